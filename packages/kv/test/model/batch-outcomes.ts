import type { WriteIdentity } from './history.ts'
import type { ModelBatch, BatchLine } from './operations.ts'
import type { ModelOutcome, VisibleChange } from './outcome.ts'
import { toExpiryInterval, getPresence, withExpiry, type RequestInterval, type KeySpace } from './key-space.ts'

type BatchStep = Pick<ModelOutcome, 'space' | 'changes'>

/** Outcomes of one batch line: two if they depend on whether the value has already expired. */
function toLineSteps(space: KeySpace, line: BatchLine, write: WriteIdentity, interval: RequestInterval): BatchStep[] {
  const { id: key } = line
  const found = space.entries.get(key)
  const presence = found ? getPresence(found, interval) : 'absent'
  const expiry = line.op === 'delete' ? {} : toExpiryInterval(line, interval)
  if (line.op === 'delete') {
    const change: VisibleChange = { op: 'delete', key, isOptional: presence === 'either', request: write }
    return [{ space: space.with(key, undefined), changes: presence === 'absent' ? [] : [change] }]
  }
  if (line.op === 'put') {
    const { value } = line
    const next = space.with(key, { value, write, ...expiry })
    return [{ space: next, changes: [{ op: 'put', key, value, ...expiry, request: write }] }]
  }
  const isOptional = presence === 'either'
  const change: VisibleChange = { op: 'expire', key, ...expiry, isOptional, request: write }
  return [
    ...(presence === 'absent' ? [] : [{ space: withExpiry(space, key, found!, expiry), changes: [change] }]),
    ...(presence === 'present' ? [] : [{ space: space.with(key, undefined), changes: [] }]),
  ]
}

/** Outcomes of a batch without a bad line. Its lines take effect in order. */
export function getBatchOutcomes(
  { lines }: ModelBatch,
  before: KeySpace,
  write: WriteIdentity,
  interval: RequestInterval,
): ModelOutcome[] {
  const body = Buffer.from(JSON.stringify({ applied: lines.length }))
  let steps: BatchStep[] = [{ space: before, changes: [] }]
  for (const line of lines)
    steps = steps.flatMap(({ space, changes }) =>
      toLineSteps(space, line, write, interval).map((next) => ({
        space: next.space,
        changes: [...changes, ...next.changes],
      })),
    )
  return steps.map((step) => ({ status: 200, body, ...step }))
}

/** Status and code that refuse a batch in every state; undefined if no such reason applies. */
export function getRefusal({
  badLine,
  ifMatch,
  ifNoneMatch,
}: ModelBatch): Pick<ModelOutcome, 'status' | 'code'> | undefined {
  if (ifMatch || ifNoneMatch) return { status: 400, code: 'CONDITION_UNSUPPORTED' }
  return badLine && { status: badLine.code === 'KEY_TOO_LARGE' ? 413 : 400, code: badLine.code }
}
