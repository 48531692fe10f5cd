import { commonErrors } from '../errors/common-errors.ts'
import type { Problem } from '../errors/problems.ts'

// The codes and messages of unreadable data. An I/O error of a synchronous read has no code, only a message.
const DAMAGED_CODES = new Set(['LEVEL_CORRUPTION', 'LEVEL_IO_ERROR'])
const DAMAGED_MESSAGE = /^(?:Corruption|IO error): /
const NOT_OPEN_CODE = /^LEVEL_(?:DATABASE|ITERATOR|SNAPSHOT|BATCH)_NOT_OPEN$/

/** True if a read or write was not attempted, because LevelDB was being reopened after a fault. */
export const isNotOpen = (error: unknown): boolean => NOT_OPEN_CODE.test(String((error as NodeJS.ErrnoException)?.code))

/** Returns the problem for a failed read of LevelDB. `undefined` for any error except damage and a closed database. */
export function toReadProblem(error: unknown): Problem | undefined {
  if (!(error instanceof Error)) return undefined
  const { code = '', message } = error as NodeJS.ErrnoException
  if (isNotOpen(error)) return commonErrors.STORE_FAILED(undefined, { cause: error, headers: { 'retry-after': '1' } })
  const isDamaged = DAMAGED_CODES.has(code) || DAMAGED_MESSAGE.test(message)
  return isDamaged ? commonErrors.DATA_DAMAGED(undefined, { cause: error }) : undefined
}
