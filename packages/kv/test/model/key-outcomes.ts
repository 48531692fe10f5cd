import type { WriteIdentity } from './history.ts'
import type { Conditions, Delete, KeyOperation, Put, Read, SetExpiry } from './operations.ts'
import type { Outcome, VisibleChange } from './outcome.ts'
import { expiryOf, noteFound, presenceOf, withExpiry, type Entry, type Interval, type Space } from './space.ts'

/** Entry that the server may find under a key, with the state in that case. */
interface View {
  readonly entry: Entry | undefined
  readonly space: Space
  /** True if the presence or absence of the entry is certain. */
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
  // An expired entry stays absent.
  const expired = { entry: undefined, space: space.with(key, undefined), isSure }
  const absent = { ...expired, onMatch: () => noteFound(entry, false, interval) }
  if (presence === 'either') return [present, absent]
  return presence === 'present' ? [present] : [absent]
}

/**
 * RFC 9110: `If-Match` compares strongly, `If-None-Match` weakly. An unknown ETag differs from all ETags that the test
 * knows.
 */
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

/** Outcome of a PUT or DELETE for this view. */
function changeOutcome(change: Put | Delete, view: View, write: WriteIdentity, interval: Interval): Outcome {
  const { entry, space, isSure, onMatch } = view
  if (!meetsIfMatch(change, entry) || !meetsIfNoneMatch(change, entry))
    return { status: 412, code: 'CONDITION_FAILED', space, changes: [], onMatch }
  const { key } = change
  if (change.type === 'delete') {
    const changes: VisibleChange[] = entry ? [{ op: 'delete', key, isOptional: !isSure, request: write }] : []
    return { status: 202, body: EMPTY, space: space.with(key, undefined), changes, onMatch }
  }
  const expiry = expiryOf(change, interval)
  const next = space.with(key, { value: change.value, write, ...expiry })
  const changes: VisibleChange[] = [{ op: 'put', key, value: change.value, ...expiry, request: write }]
  return { status: 201, body: EMPTY, tagged: write, space: next, changes, onMatch }
}

/** Outcome of an expiry change. The server refuses it if the key has no value. */
function setExpiryOutcome(change: SetExpiry, view: View, write: WriteIdentity, interval: Interval): Outcome {
  const { entry, space, onMatch } = view
  const rest = { space, changes: [], onMatch }
  if (!meetsIfMatch(change, entry)) return { status: 412, code: 'CONDITION_FAILED', ...rest }
  if (!entry) return { status: 404, code: 'ENTITY_NOT_FOUND', ...rest }
  if (!meetsIfNoneMatch(change, entry)) return { status: 412, code: 'CONDITION_FAILED', ...rest }
  const expiry = expiryOf(change, interval)
  const changes: VisibleChange[] = [{ op: 'expire', key: change.key, ...expiry, request: write }]
  return { status: 204, body: EMPTY, space: withExpiry(space, change.key, entry, expiry), changes, onMatch }
}

/** Possible outcomes of an operation on one key. */
export function keyOutcomes(
  space: Space,
  operation: KeyOperation,
  write: WriteIdentity,
  interval: Interval,
): Outcome[] {
  const views = viewsOf(space, operation.key, interval)
  if (operation.type === 'get' || operation.type === 'head') return views.map((view) => readOutcome(operation, view))
  if (operation.type === 'get-expiry') return views.map((view) => expiryOutcome(view))
  if (operation.type === 'set-expiry') return views.map((view) => setExpiryOutcome(operation, view, write, interval))
  return views.map((view) => changeOutcome(operation, view, write, interval))
}
