import { createKvClient, type KvChange, type KvValue } from '@influencer-stats/kv/client'
import { ServiceError } from '@influencer-stats/runtime/service-error'
import { errors } from '../errors.ts'
import { historyOf, type Collection, type State, type StateOptions } from './state.ts'

// The keys of state/level behind a prefix: what else is kept in the service does not meet them. An id has no "!"; '"'
// is the character after it, and "~" sorts after every digit of a time.
const PREFIX = 'stats/'
const collectionKey = (id: string) => `${PREFIX}c!${id}`
const snapshotKey = (id: string) => `${PREFIX}s!${id}`
const videoKey = (id: string) => `${PREFIX}v!${id}`
const pointKey = (id: string, at: number) => `${PREFIX}h!${id}!${String(at).padStart(16, '0')}`
const USAGE = `${PREFIX}usage`

/** The first key after another: ranges of the service include their start and leave out their end. */
const after = (key: string) => `${key}\0`

/** The service refuses writes that wait for 2 s by itself. */
const TIMEOUT = 3_000

/** Points that are read or deleted in one go. */
const PAGE = 1_000

const HOUR = 3_600_000

const parse = ({ value }: Pick<KvValue, 'value'>) => JSON.parse(value.toString())

/**
 * The key-value service at `kvUri`, over HTTP. It keeps the changes of its clients in order, so that all threads may read
 * while one owner writes.
 * @throws Problem `STATE_UNAVAILABLE` from every method while the service is down, refuses the token or a write;
 *   `OUTCOME_UNKNOWN` from `put` and `delete` if the service may have taken the change, or may take it yet
 */
export async function createKvState({
  kvUri,
  kvToken,
  timeout = TIMEOUT,
  timer,
  onOutage,
}: Omit<StateOptions, 'folder'>): Promise<State> {
  const client = createKvClient(kvUri, { token: kvToken, timeout, timer })
  let isOut = false

  /** What the service answers. Whatever else happens is not the fault of who asks us. */
  async function answered<T>(answer: Promise<T>, kindOf = (_cause: unknown) => errors.STATE_UNAVAILABLE): Promise<T> {
    try {
      const value = await answer
      isOut = false
      return value
    } catch (cause) {
      if (!isOut) onOutage(cause)
      isOut = true
      throw kindOf(cause)(undefined, { cause, headers: { 'retry-after': '1' } })
    }
  }

  async function read(key: string) {
    const found = await answered(client.get(key))
    return found && parse(found)
  }
  const entries = (start: string, end: string, limit?: number) =>
    answered(Array.fromAsync(client.entries({ start, end, limit })))
  const apply = (changes: readonly KvChange[]) => answered(client.batch(changes))

  /** What names the value of a collection that `get` gave: it is replaced, and nothing else. */
  const etags = new WeakMap<Collection, string>()
  const condition = (before: Collection | undefined) =>
    before ? { durable: true, ifMatch: etags.get(before) } : ({ durable: true, ifNoneMatch: '*' } as const)

  /** Forgets numbers and history, a page of it at a time. */
  async function clear(id: string): Promise<void> {
    for (let found = PAGE; found === PAGE;) {
      const points = await client.entries({ start: pointKey(id, 0), end: `${PREFIX}h!${id}!~`, limit: PAGE })
      const keys = [snapshotKey(id), ...(await Array.fromAsync(points, (point) => point.id))]
      await client.batch(
        keys.map((key) => ({ op: 'delete', id: key })),
        { durable: true },
      )
      found = keys.length - 1
    }
  }

  async function remove(id: string, before?: Collection): Promise<void> {
    if (before) await answered(client.delete(collectionKey(id), condition(before)), outcomeOf)
    await answered(clear(id), () => errors.OUTCOME_UNKNOWN)
  }

  return {
    isRemote: true,
    async get(id) {
      const found = await answered(client.get(collectionKey(id)))
      if (!found) return undefined
      const collection: Collection = parse(found)
      etags.set(collection, found.etag)
      return collection
    },
    async list(id, limit) {
      const found = await entries(after(collectionKey(id)), `${PREFIX}c"`, limit)
      return found.map(parse)
    },
    snapshot: (id) => read(snapshotKey(id)),
    async snapshots(ids) {
      if (ids.length === 0) return []
      const found = await entries(snapshotKey(ids[0]!), after(snapshotKey(ids.at(-1)!)))
      const byKey = new Map(found.map((entry) => [entry.id, entry]))
      return ids.map((id) => {
        const entry = byKey.get(snapshotKey(id))
        return entry && parse(entry)
      })
    },
    async history(id, from, to, limit) {
      const found = await entries(pointKey(id, Math.max(0, from)), after(pointKey(id, Math.max(0, to))), limit)
      return found.map(parse)
    },
    async pointAt(id, at) {
      // The service goes through a range upwards only. Of what is older than a day there is a point an hour.
      for (const back of [3 * HOUR, at]) {
        const found = await entries(pointKey(id, Math.max(0, at - back)), after(pointKey(id, Math.max(0, at))))
        if (found.length > 0) return parse(found.at(-1)!)
      }
      return undefined
    },
    async put(collection, before) {
      if (!before) await answered(clear(collection.id))
      const value = JSON.stringify(collection)
      await answered(client.put(collectionKey(collection.id), value, condition(before)), outcomeOf)
    },
    delete: remove,
    putSnapshots: (rows) =>
      apply(
        rows.flatMap(({ id, snapshot, point }): KvChange[] => [
          { op: 'put', id: snapshotKey(id), value: JSON.stringify(snapshot) },
          ...(point ? [{ op: 'put' as const, id: pointKey(id, point.at), value: JSON.stringify(point) }] : []),
        ]),
      ),
    videos: (ids) => Promise.all(ids.map((id) => read(videoKey(id)))),
    putVideos: (rows) =>
      apply(
        rows.flatMap(({ id, details, point }): KvChange[] => [
          ...(details ? [{ op: 'put' as const, id: videoKey(id), value: JSON.stringify(details) }] : []),
          ...(point
            ? [{ op: 'put' as const, id: pointKey(historyOf(id), point.at), value: JSON.stringify(point) }]
            : []),
        ]),
      ),
    async listVideos(id, limit) {
      const found = await entries(after(videoKey(id)), `${PREFIX}v"`, limit)
      return found.map(parse)
    },
    deleteVideos: (ids) => apply(ids.map((id) => ({ op: 'delete', id: videoKey(id) }))),
    deletePoints: (id, times) => apply(times.map((at) => ({ op: 'delete', id: pointKey(id, at) }))),
    usage: () => read(USAGE),
    async putUsage(usage) {
      await answered(client.put(USAGE, JSON.stringify(usage)))
    },
    close: () => client.close(),
  }
}

// Nobody has heard of the change.
const NOT_REACHED = new Set([
  'ECONNREFUSED',
  'EHOSTUNREACH',
  'ENETUNREACH',
  'ENOTFOUND',
  'EAI_AGAIN',
  'UND_ERR_CONNECT_TIMEOUT',
])
// What the service refuses it has not done; but where another value is there, the change may have come twice.
const isRefusal = ({ status, code }: ServiceError) =>
  (status < 500 || status === 503 || status === 507) && code !== 'CONDITION_FAILED' && code !== 'UNEXPECTED_REPLY'

/** What a change that failed so is answered with. */
function outcomeOf(cause: unknown) {
  const { code } = cause as { code?: string }
  const isKnown = cause instanceof ServiceError ? isRefusal(cause) : NOT_REACHED.has(String(code))
  return isKnown ? errors.STATE_UNAVAILABLE : errors.OUTCOME_UNKNOWN
}
