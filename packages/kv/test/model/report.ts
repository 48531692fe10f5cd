import type { HttpReply } from './connection.ts'
import { Difference } from './difference.ts'
import { showReply, type OperationLog } from './operation-log.ts'
import { keysOf, showKey, showOperation, type Operation } from './operations.ts'
import type { Space } from './space.ts'

const MAX_KEYS = 8

export interface ReportOptions {
  readonly client: string
  readonly operation: Operation
  readonly reply: HttpReply | undefined
  /** State of the model. */
  readonly space: Space
  readonly log: OperationLog
}

function showEntry(key: string, { entries }: Space): string {
  const entry = entries.get(key)
  const { value, write, expiry = {} } = entry ?? {}
  const shown = entry ? `${value!.length} bytes by ${write!.label}, ${JSON.stringify(expiry)}` : 'absent'
  return `  ${showKey(key)} in the model: ${shown}`
}

/** Returns a difference with the operation, the expectation and the latest operations on its keys. */
export function reportOf({ client, operation, reply, space, log }: ReportOptions, cause: Error): Difference {
  const named = operation.type === 'range' || operation.type === 'get-many' ? namedIn(cause, space) : keysOf(operation)
  const keys = named.slice(0, MAX_KEYS)
  const lines = [
    `${client}: ${showOperation(operation)}`,
    `  expected and found: ${cause.message}`,
    `  reply: ${showReply(reply)}`,
    ...keys.map((key) => showEntry(key, space)),
    '  last operations on these keys:',
    log.show(keys),
  ]
  return new Difference(lines.join('\n'), { keys, cause })
}

const namedIn = ({ message }: Error, { keys }: Space): string[] => keys.filter((key) => message.includes(showKey(key)))
