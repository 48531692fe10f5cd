import type { WriteIdentity } from './history.ts'
import type { Conditions, ModelDelete, KeyOperation, ModelPut, ModelRead, SetExpiry } from './operations.ts'
import type { ModelOutcome, VisibleChange } from './outcome.ts'
import {
  toExpiryInterval,
  noteFound,
  getPresence,
  withExpiry,
  type SpaceEntry,
  type RequestInterval,
  type KeySpace,
} from './key-space.ts'

/** Entry that the server may find under a key, with the state in that case. */
interface KeyView {
  readonly entry: SpaceEntry | undefined
  readonly space: KeySpace
  /** True if the presence or absence of the entry is certain. */
  readonly isSure: boolean
  readonly onMatch: () => void
}

const EMPTY_BODY = Buffer.alloc(0)

function getViews(space: KeySpace, key: string, interval: RequestInterval): KeyView[] {
  const entry = space.entries.get(key)
  if (!entry) return [{ entry, space, isSure: true, onMatch: () => {} }]
  const presence = getPresence(entry, interval)
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
function matchesIfMatch({ ifMatch }: Conditions, entry: SpaceEntry | undefined): boolean {
  if (ifMatch === undefined) return true
  if (!entry || ifMatch === '*') return entry !== undefined
  return ifMatch.some(({ tag, isWeak }) => !isWeak && tag === entry.write.etag)
}

function matchesIfNoneMatch({ ifNoneMatch }: Conditions, entry: SpaceEntry | undefined): boolean {
  if (ifNoneMatch === undefined || !entry) return true
  return ifNoneMatch !== '*' && !ifNoneMatch.some(({ tag }) => tag === entry.write.etag)
}

function getReadOutcome(read: ModelRead, { entry, space, onMatch }: KeyView): ModelOutcome {
  const rest = { space, changes: [], onMatch }
  if (!matchesIfMatch(read, entry)) return { status: 412, code: 'CONDITION_FAILED', ...rest }
  if (!entry) return { status: 404, code: 'ENTITY_NOT_FOUND', ...rest }
  if (!matchesIfNoneMatch(read, entry)) return { status: 304, tagged: entry.write, ...rest }
  const body = read.type === 'get' ? entry.value : EMPTY_BODY
  return { status: 200, body, tagged: entry.write, contentLength: entry.value.length, ...rest }
}

function getExpiryOutcome({ entry, space, onMatch }: KeyView): ModelOutcome {
  const rest = { space, changes: [], onMatch }
  return entry
    ? { status: 200, expiry: entry.expiry ?? null, ...rest }
    : { status: 404, code: 'ENTITY_NOT_FOUND', ...rest }
}

/** Outcome of a PUT or DELETE for this view. */
function getChangeOutcome(
  change: ModelPut | ModelDelete,
  view: KeyView,
  write: WriteIdentity,
  interval: RequestInterval,
): ModelOutcome {
  const { entry, space, isSure, onMatch } = view
  if (!matchesIfMatch(change, entry) || !matchesIfNoneMatch(change, entry))
    return { status: 412, code: 'CONDITION_FAILED', space, changes: [], onMatch }
  const { key } = change
  if (change.type === 'delete') {
    const changes: VisibleChange[] = entry ? [{ op: 'delete', key, isOptional: !isSure, request: write }] : []
    return { status: 202, body: EMPTY_BODY, space: space.with(key, undefined), changes, onMatch }
  }
  const expiry = toExpiryInterval(change, interval)
  const next = space.with(key, { value: change.value, write, ...expiry })
  const changes: VisibleChange[] = [{ op: 'put', key, value: change.value, ...expiry, request: write }]
  return { status: 201, body: EMPTY_BODY, tagged: write, space: next, changes, onMatch }
}

/** Outcome of an expiry change. The server refuses it if the key has no value. */
function setExpiryOutcome(
  change: SetExpiry,
  view: KeyView,
  write: WriteIdentity,
  interval: RequestInterval,
): ModelOutcome {
  const { entry, space, onMatch } = view
  const rest = { space, changes: [], onMatch }
  if (!matchesIfMatch(change, entry)) return { status: 412, code: 'CONDITION_FAILED', ...rest }
  if (!entry) return { status: 404, code: 'ENTITY_NOT_FOUND', ...rest }
  if (!matchesIfNoneMatch(change, entry)) return { status: 412, code: 'CONDITION_FAILED', ...rest }
  const expiry = toExpiryInterval(change, interval)
  const changes: VisibleChange[] = [{ op: 'expire', key: change.key, ...expiry, request: write }]
  return { status: 204, body: EMPTY_BODY, space: withExpiry(space, change.key, entry, expiry), changes, onMatch }
}

/** Possible outcomes of an operation on one key. */
export function getKeyOutcomes(
  space: KeySpace,
  operation: KeyOperation,
  write: WriteIdentity,
  interval: RequestInterval,
): ModelOutcome[] {
  const views = getViews(space, operation.key, interval)
  if (operation.type === 'get' || operation.type === 'head') return views.map((view) => getReadOutcome(operation, view))
  if (operation.type === 'get-expiry') return views.map((view) => getExpiryOutcome(view))
  if (operation.type === 'set-expiry') return views.map((view) => setExpiryOutcome(operation, view, write, interval))
  return views.map((view) => getChangeOutcome(operation, view, write, interval))
}
