import { getBatchOutcomes, getRefusal } from './batch-outcomes.ts'
import type { WriteIdentity } from './history.ts'
import { getKeyOutcomes } from './key-outcomes.ts'
import type { ModelBatch, ModelDelete, KeyOperation, ModelPut } from './operations.ts'
import type { ModelOutcome } from './outcome.ts'
import type { RequestInterval, KeySpace } from './key-space.ts'

const EMPTY_BODY = Buffer.alloc(0)

/** Returns a text that is equal for equal requests. A repeated request gets the reply of the first. */
function computeFingerprint(operation: ModelPut | ModelDelete | ModelBatch): string {
  const { durable: _, idempotencyKey: __, ...rest } = operation
  return JSON.stringify(rest)
}

/** Possible outcomes of an operation in this state. @param write identity of the write, if the operation is a write */
export function getOutcomes(
  space: KeySpace,
  operation: KeyOperation | ModelBatch,
  write: WriteIdentity,
  interval: RequestInterval,
): ModelOutcome[] {
  const firstOutcomes = () =>
    operation.type === 'batch'
      ? getBatchOutcomes(operation, space, write, interval)
      : getKeyOutcomes(space, operation, write, interval)
  const refusal = operation.type === 'batch' && getRefusal(operation)
  // The model does not remember a refused batch, either.
  if (refusal) return [{ ...refusal, space, changes: [] }]
  const idempotencyKey = 'idempotencyKey' in operation ? operation.idempotencyKey : undefined
  if (idempotencyKey === undefined) return firstOutcomes()
  const fingerprint = computeFingerprint(operation as ModelPut)
  const idempotencyRecord = space.records.get(idempotencyKey)
  if (idempotencyRecord)
    return [getRepeatedOutcome(idempotencyRecord, fingerprint, operation as ModelPut | ModelDelete | ModelBatch, space)]
  return firstOutcomes().map((outcome) => {
    const record = { fingerprint, status: outcome.status, write }
    return { ...outcome, space: outcome.space.addRecord(idempotencyKey, record) }
  })
}

function getRepeatedOutcome(
  { fingerprint, status, write }: { fingerprint: string; status: number; write: WriteIdentity },
  repeated: string,
  operation: ModelPut | ModelDelete | ModelBatch,
  space: KeySpace,
): ModelOutcome {
  const rest = { space, changes: [] }
  if (fingerprint !== repeated) return { status: 422, code: 'IDEMPOTENCY_KEY_REUSED', ...rest }
  if (status === 412) return { status, code: 'CONDITION_FAILED', ...rest }
  if (operation.type === 'batch')
    return { status, body: Buffer.from(JSON.stringify({ applied: operation.lines.length })), ...rest }
  return { status, body: EMPTY_BODY, ...(operation.type === 'put' && { tagged: write }), ...rest }
}
