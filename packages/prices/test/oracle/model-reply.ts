import type { Json } from './json-text.ts'

/** The code of a refusal. */
export type Code = string

/** A reply: its body, or the code of a refusal. */
export interface ModelReply {
  readonly status: number
  readonly body?: Json
  readonly code?: Code
}

const BAD_REQUESTS = new Set(['VALIDATION_FAILED', 'VALUE_NOT_STORABLE', 'VALUE_TYPE', 'BAD_LINE', 'IMPORT_EMPTY'])

function toStatus(code: Code): number {
  if (BAD_REQUESTS.has(code)) return 400
  return code.endsWith('_NOT_FOUND') ? 404 : 409
}

export const toRefusal = (code: Code): ModelReply => ({ status: toStatus(code), code })
