import type { WriteIdentity } from './history.ts'
import type { Batch, BatchLine, Conditions, Delete, KeyOperation, Put, Read, SetExpiry } from './operations.ts'
import { noteFound, presenceOf, type Entry, type Expiry, type Interval, type Space } from './space.ts'

/** A change that a stream of changes must show. */
export interface VisibleChange {
  readonly op: 'put' | 'delete' | 'expire'
  readonly key: string
  readonly value?: Buffer
  readonly expiry?: Expiry
  /** Whether it is shown depends on when the value there expired. */
  readonly isOptional?: boolean
  /** Changes of one request take effect together. */
  readonly request: WriteIdentity
}

/** What the contract allows a request to do: the reply, and the state after it. */
export interface Outcome {
  readonly status: number
  /** Of the problem, where the reply is one. */
  readonly code?: string
  /** Of the reply, where it is not a problem. */
  readonly body?: Buffer
  /** The write whose ETag the reply has. */
  readonly tagged?: WriteIdentity
  readonly contentLength?: number
  /** What the body tells of when the value expires; null: never. */
  readonly expiry?: Expiry | null
  readonly space: Space
  readonly changes: readonly VisibleChange[]
  /** Called where the reply has this outcome. */
  readonly onMatch?: () => void
}

/** What is under a key as the server may find it, and the state in that case. */
interface View {
  readonly entry: Entry | undefined
  readonly space: Space
  /** Whether the entry surely is or is not there. */
  readonly isSure: boolean
  readonly onMatch: () => void
}

const EMPTY = Buffer.alloc(0)

function viewsOf(space: Space, key: string, interval: Interval): View[] {
  const entry = space.entries.get(key)
  if (!entry) return [{ entry, space, isSure: true, onMatch: () => {} }]
  const presence = presenceOf(entry, interval)
  const isSure = presence !== 'either'
  const present = { entry, space, isSure, onMatch: () => noteFound(entry, true, interval) }
  // What has expired stays absent.
  const expired = { entry: undefined, space: space.with(key, undefined), isSure }
  const absent = { ...expired, onMatch: () => noteFound(entry, false, interval) }
  if (presence === 'either') return [present, absent]
  return presence === 'present' ? [present] : [absent]
}

/** RFC 9110: `If-Match` compares strongly, `If-None-Match` weakly. An unknown ETag is none that the test knows. */
function meetsIfMatch({ ifMatch }: Conditions, entry: Entry | undefined): boolean {
  if (ifMatch === undefined) return true
  if (!entry || ifMatch === '*') return entry !== undefined
  return ifMatch.some(({ tag, isWeak }) => !isWeak && tag === entry.write.etag)
}

function meetsIfNoneMatch({ ifNoneMatch }: Conditions, entry: Entry | undefined): boolean {
  if (ifNoneMatch === undefined || !entry) return true
  return ifNoneMatch !== '*' && !ifNoneMatch.some(({ tag }) => tag === entry.write.etag)
}

function readOutcome(read: Read, { entry, space, onMatch }: View): Outcome {
  const rest = { space, changes: [], onMatch }
  if (!meetsIfMatch(read, entry)) return { status: 412, code: 'CONDITION_FAILED', ...rest }
  if (!entry) return { status: 404, code: 'ENTITY_NOT_FOUND', ...rest }
  if (!meetsIfNoneMatch(read, entry)) return { status: 304, tagged: entry.write, ...rest }
  const body = read.type === 'get' ? entry.value : EMPTY
  return { status: 200, body, tagged: entry.write, contentLength: entry.value.length, ...rest }
}

function expiryOutcome({ entry, space, onMatch }: View): Outcome {
  const rest = { space, changes: [], onMatch }
  return entry
    ? { status: 200, expiry: entry.expiry ?? null, ...rest }
    : { status: 404, code: 'ENTITY_NOT_FOUND', ...rest }
}

const after = (ms: number, { sentAt, receivedAt }: Interval): Expiry => ({
  earliest: sentAt + ms,
  latest: receivedAt + ms,
})

function expiryOf(
  { ttl, expiresAt }: { readonly ttl?: number; readonly expiresAt?: number | null },
  interval: Interval,
): { readonly expiry?: Expiry } {
  if (ttl !== undefined) return { expiry: after(ttl * 1_000, interval) }
  return expiresAt === undefined || expiresAt === null ? {} : { expiry: { earliest: expiresAt, latest: expiresAt } }
}

/** A PUT or DELETE that finds this view. */
function changeOutcome(change: Put | Delete, view: View, write: WriteIdentity, interval: Interval): Outcome {
  const { entry, space, isSure, onMatch } = view
  if (!meetsIfMatch(change, entry) || !meetsIfNoneMatch(change, entry))
    return { status: 412, code: 'CONDITION_FAILED', space, changes: [], onMatch }
  const { key } = change
  if (change.type === 'delete') {
    const changes: VisibleChange[] = entry && isSure ? [{ op: 'delete', key, request: write }] : []
    return { status: 202, body: EMPTY, space: space.with(key, undefined), changes, onMatch }
  }
  const expiry = expiryOf(change, interval)
  const next = space.with(key, { value: change.value, write, ...expiry })
  const changes: VisibleChange[] = [{ op: 'put', key, value: change.value, ...expiry, request: write }]
  return { status: 201, body: EMPTY, tagged: write, space: next, changes, onMatch }
}

/** A change of the expiry of a value; without one it is refused. */
function setExpiryOutcome(change: SetExpiry, view: View, write: WriteIdentity, interval: Interval): Outcome {
  const { entry, space, onMatch } = view
  const rest = { space, changes: [], onMatch }
  if (!meetsIfMatch(change, entry)) return { status: 412, code: 'CONDITION_FAILED', ...rest }
  if (!entry) return { status: 404, code: 'ENTITY_NOT_FOUND', ...rest }
  if (!meetsIfNoneMatch(change, entry)) return { status: 412, code: 'CONDITION_FAILED', ...rest }
  const expiry = expiryOf(change, interval)
  const changes: VisibleChange[] = [{ op: 'expire', key: change.key, ...expiry, request: write }]
  return { status: 204, body: EMPTY, space: expiring(space, change.key, entry, expiry), changes, onMatch }
}

/** The entry with another expiry, and nothing else. */
const expiring = (space: Space, key: string, { value, write }: Entry, expiry: { readonly expiry?: Expiry }): Space =>
  space.with(key, { value, write, ...expiry })

type Step = Pick<Outcome, 'space' | 'changes'>

/** A line of a batch: two outcomes where it depends on whether a value has expired by then. */
function lineSteps(space: Space, line: BatchLine, write: WriteIdentity, interval: Interval): Step[] {
  const { id: key } = line
  const found = space.entries.get(key)
  const presence = found ? presenceOf(found, interval) : 'absent'
  const expiry = line.op === 'delete' ? {} : expiryOf(line, interval)
  if (line.op === 'delete') {
    const changes: VisibleChange[] = presence === 'present' ? [{ op: 'delete', key, request: write }] : []
    return [{ space: space.with(key, undefined), changes }]
  }
  if (line.op === 'put') {
    const { value } = line
    const next = space.with(key, { value, write, ...expiry })
    return [{ space: next, changes: [{ op: 'put', key, value, ...expiry, request: write }] }]
  }
  const isOptional = presence === 'either'
  const change: VisibleChange = { op: 'expire', key, ...expiry, isOptional, request: write }
  return [
    ...(presence === 'absent' ? [] : [{ space: expiring(space, key, found!, expiry), changes: [change] }]),
    ...(presence === 'present' ? [] : [{ space: space.with(key, undefined), changes: [] }]),
  ]
}

/** A batch without a bad line: its lines take effect in their order. */
function batchOutcomes({ lines }: Batch, before: Space, write: WriteIdentity, interval: Interval): Outcome[] {
  const body = Buffer.from(JSON.stringify({ applied: lines.length }))
  let steps: Step[] = [{ space: before, changes: [] }]
  for (const line of lines)
    steps = steps.flatMap(({ space, changes }) =>
      lineSteps(space, line, write, interval).map((next) => ({
        space: next.space,
        changes: [...changes, ...next.changes],
      })),
    )
  return steps.map((step) => ({ status: 200, body, ...step }))
}

/** A text for each request that is the same request: its repetition gets the reply of the first. */
function fingerprintOf(operation: Put | Delete | Batch): string {
  const { durable: _, idempotencyKey: __, ...rest } = operation
  return JSON.stringify(rest)
}

/** What an operation may do that is not the repetition of another one. */
function firstOutcomes(
  space: Space,
  operation: KeyOperation | Batch,
  write: WriteIdentity,
  interval: Interval,
): Outcome[] {
  if (operation.type === 'batch') return batchOutcomes(operation, space, write, interval)
  const views = viewsOf(space, operation.key, interval)
  if (operation.type === 'get' || operation.type === 'head') return views.map((view) => readOutcome(operation, view))
  if (operation.type === 'get-expiry') return views.map((view) => expiryOutcome(view))
  if (operation.type === 'set-expiry') return views.map((view) => setExpiryOutcome(operation, view, write, interval))
  return views.map((view) => changeOutcome(operation, view, write, interval))
}

/** Why a batch is refused whatever the state is. */
function refusalOf({ badLine, ifMatch, ifNoneMatch }: Batch): Pick<Outcome, 'status' | 'code'> | undefined {
  if (ifMatch || ifNoneMatch) return { status: 400, code: 'BATCH_CONDITION' }
  return badLine && { status: badLine.code === 'KEY_TOO_LARGE' ? 413 : 400, code: badLine.code }
}

/** What an operation may do to this state. @param write the identity of the write that it is, if it is one */
export function outcomesOf(
  space: Space,
  operation: KeyOperation | Batch,
  write: WriteIdentity,
  interval: Interval,
): Outcome[] {
  const refusal = operation.type === 'batch' && refusalOf(operation)
  // It is not remembered either.
  if (refusal) return [{ ...refusal, space, changes: [] }]
  const idempotencyKey = 'idempotencyKey' in operation ? operation.idempotencyKey : undefined
  if (idempotencyKey === undefined) return firstOutcomes(space, operation, write, interval)
  const fingerprint = fingerprintOf(operation as Put)
  const known = space.remembered.get(idempotencyKey)
  if (known) return [repeatedOutcome(known, fingerprint, operation as Put | Delete | Batch, space)]
  return firstOutcomes(space, operation, write, interval).map((outcome) => {
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

interface CheckedReply extends Interval {
  readonly status: number
  readonly headers: ReadonlyMap<string, string>
  readonly body: Buffer
}

/** Why a reply does not have this outcome, its ETag aside; nothing where it does. */
export function mismatchOf(outcome: Outcome, reply: CheckedReply, isHead: boolean): string | undefined {
  const { status, code, body, contentLength, expiry } = outcome
  if (reply.status !== status) return `status ${status}`
  if (code !== undefined && !isHead && codeOf(reply.body) !== code) return `code ${code}`
  if (body !== undefined && !reply.body.equals(body)) return `a body of ${body.length} bytes`
  if (contentLength !== undefined && reply.headers.get('content-length') !== String(contentLength))
    return `content-length ${contentLength}`
  return expiry === undefined ? undefined : wrongExpiry(expiry, reply)
}

/** Why a reply does not tell of this expiry; the rest of the time is that at some moment between request and reply. */
function wrongExpiry(expiry: Expiry | null, { body, sentAt, receivedAt }: CheckedReply): string | undefined {
  const { expiresAt, remaining } = JSON.parse(body.toString()) as { expiresAt: number | null; remaining: number | null }
  if (!expiry || expiresAt === null || remaining === null)
    return expiry || expiresAt !== null || remaining !== null ? `an expiry of ${JSON.stringify(expiry)}` : undefined
  const isTime = expiresAt >= expiry.earliest && expiresAt <= expiry.latest
  const isRest = remaining >= Math.max(0, expiresAt - receivedAt) && remaining <= expiresAt - sentAt
  return isTime && isRest ? undefined : `an expiry of ${JSON.stringify(expiry)}, and the rest of that`
}

/** The code of a problem; nothing for what is not one. */
export function codeOf(body: Buffer): string | undefined {
  try {
    return (JSON.parse(body.toString()) as { code?: string }).code
  } catch {
    return undefined
  }
}
