import type { HttpReply } from './connection.ts'
import { Difference } from './difference.ts'
import { showReply, type OperationLog } from './operation-log.ts'
import { getKeys, showKey, showOperation, type ModelOperation } from './operations.ts'
import type { KeySpace } from './key-space.ts'

const MAX_KEYS = 8

export interface ReportOptions {
  readonly client: string
  readonly operation: ModelOperation
  readonly reply: HttpReply | undefined
  /** State of the model. */
  readonly space: KeySpace
  readonly log: OperationLog
}

function showEntry(key: string, { entries }: KeySpace): string {
  const entry = entries.get(key)
  const { value, write, expiry = {} } = entry ?? {}
  const shown = entry ? `${value!.length} bytes by ${write!.label}, ${JSON.stringify(expiry)}` : 'absent'
  return `  ${showKey(key)} in the model: ${shown}`
}

/** Returns a difference with the operation, the expectation and the latest operations on its keys. */
export function createReport({ client, operation, reply, space, log }: ReportOptions, cause: Error): Difference {
  const namedKeys =
    operation.type === 'range' || operation.type === 'get-many' ? listNamedKeys(cause, space) : getKeys(operation)
  const keys = namedKeys.slice(0, MAX_KEYS)
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

const listNamedKeys = ({ message }: Error, { keys }: KeySpace): string[] =>
  keys.filter((key) => message.includes(showKey(key)))
