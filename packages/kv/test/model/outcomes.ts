import { batchOutcomes, refusalOf } from './batch-outcomes.ts'
import type { WriteIdentity } from './history.ts'
import { keyOutcomes } from './key-outcomes.ts'
import type { Batch, Delete, KeyOperation, Put } from './operations.ts'
import type { Outcome } from './outcome.ts'
import type { Interval, Space } from './space.ts'

const EMPTY = Buffer.alloc(0)

/** Returns a text that is equal for equal requests. A repeated request gets the reply of the first. */
function fingerprintOf(operation: Put | Delete | Batch): string {
  const { durable: _, idempotencyKey: __, ...rest } = operation
  return JSON.stringify(rest)
}

/** Possible outcomes of an operation in this state. @param write identity of the write, if the operation is a write */
export function outcomesOf(
  space: Space,
  operation: KeyOperation | Batch,
  write: WriteIdentity,
  interval: Interval,
): Outcome[] {
  const firstOutcomes = () =>
    operation.type === 'batch'
      ? batchOutcomes(operation, space, write, interval)
      : keyOutcomes(space, operation, write, interval)
  const refusal = operation.type === 'batch' && refusalOf(operation)
  // The model does not remember a refused batch, either.
  if (refusal) return [{ ...refusal, space, changes: [] }]
  const idempotencyKey = 'idempotencyKey' in operation ? operation.idempotencyKey : undefined
  if (idempotencyKey === undefined) return firstOutcomes()
  const fingerprint = fingerprintOf(operation as Put)
  const known = space.remembered.get(idempotencyKey)
  if (known) return [repeatedOutcome(known, fingerprint, operation as Put | Delete | Batch, space)]
  return firstOutcomes().map((outcome) => {
    const remembered = { fingerprint, status: outcome.status, write }
    return { ...outcome, space: outcome.space.remember(idempotencyKey, remembered) }
  })
}

function repeatedOutcome(
  { fingerprint, status, write }: { fingerprint: string; status: number; write: WriteIdentity },
  repeated: string,
  operation: Put | Delete | Batch,
  space: Space,
): Outcome {
  const rest = { space, changes: [] }
  if (fingerprint !== repeated) return { status: 422, code: 'IDEMPOTENCY_KEY_REUSED', ...rest }
  if (status === 412) return { status, code: 'CONDITION_FAILED', ...rest }
  if (operation.type === 'batch')
    return { status, body: Buffer.from(JSON.stringify({ applied: operation.lines.length })), ...rest }
  return { status, body: EMPTY, ...(operation.type === 'put' && { tagged: write }), ...rest }
}
