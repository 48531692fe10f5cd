import type { HttpReply } from './connection.ts'
import { getKeys, showOperation, showValue, type ModelOperation } from './operations.ts'

interface LogLine {
  readonly client: string
  readonly operation: ModelOperation
  readonly reply: HttpReply | undefined
}

const MAX_LINES = 20_000
const MAX_SHOWN = 12

/** Latest operations, for the report of a difference. */
export class OperationLog {
  #lines: LogLine[] = []

  add(client: string, operation: ModelOperation, reply?: HttpReply): void {
    this.#lines.push({ client, operation, reply })
    if (this.#lines.length > MAX_LINES) this.#lines = this.#lines.slice(MAX_LINES / 2)
  }

  /** Formats the latest operations on some keys, newest last. */
  show(keys: readonly string[]): string {
    const lines = this.#lines.filter(({ operation }) => getKeys(operation).some((key) => keys.includes(key)))
    return lines
      .slice(-MAX_SHOWN)
      .map(({ client, operation, reply }) => `  ${client}: ${showOperation(operation)} -> ${showReply(reply)}`)
      .join('\n')
  }
}

export function showReply(reply: HttpReply | undefined): string {
  if (!reply) return 'no reply'
  const { status, headers, body, sentAt, receivedAt } = reply
  return `${status} etag ${headers.get('etag') ?? '-'}, ${showValue(body)}, at ${sentAt} to ${receivedAt}`
}
