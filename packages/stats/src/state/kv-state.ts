import { createKvClient, type KvChange, type KvValue } from '@influencer-stats/kv/client'
import { Outage } from '@influencer-stats/runtime/async/outage'
import { ServiceError } from '@influencer-stats/runtime/service-error'
import { getCurrentSource, NO_SOURCES, withSource, type Sources } from '../core/sources.ts'
import { errors } from '../errors.ts'
import { COLLECTION_KINDS, getCollectionIds, isDurable, type RecordChange } from '../core/record-kinds.ts'
import {
  toCollectionKey,
  getAllKeys,
  getRecordKeys,
  getSourceKeys,
  SOURCES_KEY,
  USAGE_KEY,
  type StatsKeyRange,
} from './level-keys.ts'
import { buildRows, type LevelRow } from './level-rows.ts'
import { countSourceRows } from './other-sources.ts'
import { ConflictError, type Collection, type StatsState, type StateOptions } from './stats-state.ts'

/** Prefix of all keys of stats in kv, where other clients have data too. It precedes the keys of `level-keys.ts`. */
const KEY_PREFIX = 'stats/'

/** Returns the key directly after `key`. Ranges of kv include their start and exclude their end. */
const toNextKey = (key: string) => `${key}\0`

/** Timeout of a request to kv (ms). By default, kv itself refuses a write that waits in its queue for 2 s. */
const TIMEOUT_MS = 3_000

/** Number of points that are read or deleted at once. */
const PAGE_SIZE = 1_000

const HOUR_MS = 3_600_000

const toKvChange = (row: LevelRow): KvChange =>
  row.type === 'put'
    ? { op: 'put', id: KEY_PREFIX + row.key, value: row.value }
    : { op: 'delete', id: KEY_PREFIX + row.key }

const parse = ({ value }: Pick<KvValue, 'value'>) => JSON.parse(value.toString())

/**
 * Stores the state in the service kv at `kvUri`, over HTTP. kv orders the changes of its clients, so all threads may read
 * while one owner writes.
 * @throws Problem `STATE_UNAVAILABLE` from every method while kv is down, or if it refuses the token or a write;
 * `OUTCOME_UNKNOWN` from `put` and `delete` if kv may have applied the change, or may still apply it
 */
export async function createKvState({
  kvUri,
  kvToken,
  timeout = TIMEOUT_MS,
  timer,
  onOutage,
}: Omit<StateOptions, 'folder'>): Promise<StatsState> {
  const client = createKvClient(kvUri, { token: kvToken, timeout, timer })
  const outage = new Outage({ onStart: onOutage })

  /** Returns kv's response, and reports outages. Every fault becomes a 503, because the client of stats did not cause it. */
  async function trackOutage<T>(
    answer: Promise<T>,
    toError = (_cause: unknown) => errors.STATE_UNAVAILABLE,
  ): Promise<T> {
    try {
      const value = await answer
      outage.succeed()
      return value
    } catch (cause) {
      outage.fail(cause)
      throw toError(cause)(undefined, { cause, headers: { 'retry-after': '1' } })
    }
  }

  async function read(key: string) {
    const found = await trackOutage(client.get(KEY_PREFIX + key))
    return found && parse(found)
  }
  const entries = (start: string, end: string, limit?: number) =>
    trackOutage(Array.fromAsync(client.entries({ start: KEY_PREFIX + start, end: KEY_PREFIX + end, limit })))
  /** Converts a range of the keys of `level-keys.ts` to a range of kv. */
  const toRange = ({ gt, lt }: StatsKeyRange) => ({ start: toNextKey(KEY_PREFIX + gt), end: KEY_PREFIX + lt })

  /**
   * The sources, which are read only once: one stats service at a time owns this data, and its threads open the state
   * after the main thread has recorded the source.
   */
  let known: Sources | undefined
  const sources = async (): Promise<Sources> => (known ??= (await read(SOURCES_KEY)) ?? NO_SOURCES)
  const keys = async () => getSourceKeys((await sources()).current)
  const apply = (rows: readonly LevelRow[]) => trackOutage(client.batch(rows.map(toKvChange)))

  /** ETags of the values that `get` returned: a change replaces exactly this value. */
  const etags = new WeakMap<Collection, string>()
  const condition = (before: Collection | undefined) =>
    before ? { durable: true, ifMatch: etags.get(before) } : ({ durable: true, ifNoneMatch: '*' } as const)

  /** Deletes the row in the trash, the numbers and the histories of a collection, of every source, page by page. */
  async function clear(id: string): Promise<void> {
    const rootKeys = getSourceKeys(0)
    const all = getAllKeys(await sources())
    await Promise.all([
      clearRange(all[0]!.history(id), [...all.map(({ snapshot }) => snapshot(id)), rootKeys.record('trash', id)]),
      ...all.slice(1).map(({ history }) => clearRange(history(id))),
      ...COLLECTION_KINDS.map((kind) => clearRange(rootKeys.records(kind, { prefix: `${id}/` }))),
    ])
  }

  /** Deletes single keys and all keys of a range. */
  async function clearRange(range: StatsKeyRange, single: readonly string[] = []): Promise<void> {
    for (let found = PAGE_SIZE; found === PAGE_SIZE;) {
      const rows = client.entries({ ...toRange(range), limit: PAGE_SIZE })
      const keys = [...single.map((key) => KEY_PREFIX + key), ...(await Array.fromAsync(rows, (row) => row.id))]
      if (keys.length > 0)
        await client.batch(
          keys.map((key) => ({ op: 'delete', id: key })),
          { durable: true },
        )
      found = keys.length - single.length
    }
  }

  async function putRecords(changes: readonly RecordChange[]): Promise<void> {
    for (const id of getCollectionIds(changes)) if (!(await read(toCollectionKey(id)))) throw new ConflictError()
    const rows = buildRows.records(changes, await keys()).map(toKvChange)
    const durable = changes.some(({ kind }) => isDurable(kind))
    await trackOutage(client.batch(rows, { durable }), durable ? toOutcomeError : undefined)
  }

  async function remove(id: string, before?: Collection): Promise<void> {
    if (before) await trackOutage(client.delete(KEY_PREFIX + toCollectionKey(id), condition(before)), toOutcomeError)
    await trackOutage(clear(id), () => errors.OUTCOME_UNKNOWN)
  }

  return {
    isRemote: true,
    async get(id) {
      const found = await trackOutage(client.get(KEY_PREFIX + toCollectionKey(id)))
      if (!found) return undefined
      const collection: Collection = parse(found)
      etags.set(collection, found.etag)
      return collection
    },
    async list(id, limit) {
      // See `level-keys.ts`: all keys of collections are before `c"`.
      const found = await entries(toNextKey(toCollectionKey(id)), 'c"', limit)
      return found.map(parse)
    },
    getSnapshot: async (id) => read((await keys()).snapshot(id)),
    async getSnapshots(ids) {
      if (ids.length === 0) return []
      const { snapshot } = await keys()
      const found = await entries(snapshot(ids[0]!), toNextKey(snapshot(ids.at(-1)!)))
      const byKey = new Map(found.map((entry) => [entry.id, entry]))
      return ids.map((id) => {
        const entry = byKey.get(KEY_PREFIX + snapshot(id))
        return entry && parse(entry)
      })
    },
    async getHistory(id, from, to, limit) {
      const { point } = await keys()
      const found = await entries(point(id, from), toNextKey(point(id, to)), limit)
      return found.map(parse)
    },
    async getPointAt(id, at) {
      const { point } = await keys()
      // kv reads ranges only in ascending order, so a short range comes first, which usually has a point: one per hour
      // remains of points older than a day.
      for (const back of [3 * HOUR_MS, at]) {
        const found = await entries(point(id, at - back), toNextKey(point(id, at)))
        if (found.length > 0) return parse(found.at(-1)!)
      }
      return undefined
    },
    async put(collection, before) {
      if (!before) await trackOutage(clear(collection.id))
      const value = JSON.stringify(collection)
      await trackOutage(
        client.put(KEY_PREFIX + toCollectionKey(collection.id), value, condition(before)),
        toOutcomeError,
      )
    },
    delete: remove,
    // kv has no batches with conditions, so the row in the trash is written first. After a crash in between the
    // collection still exists, and the next pruning deletes the row in the trash.
    async trash(trashed, before) {
      await putRecords([{ kind: 'trash', key: trashed.id, value: trashed }])
      await trackOutage(client.delete(KEY_PREFIX + toCollectionKey(trashed.id), condition(before)), toOutcomeError)
    },
    async restore(collection) {
      const { id, revision } = collection
      const key = KEY_PREFIX + toCollectionKey(id)
      const found = await trackOutage(client.get(key))
      // A repeated restoration has written the collection before.
      if (!found || parse(found).revision !== revision)
        await trackOutage(client.put(key, JSON.stringify(collection), condition(undefined)), toOutcomeError)
      await trackOutage(putRecords([{ kind: 'trash', key: id }]), () => errors.OUTCOME_UNKNOWN)
    },
    putRecords,
    async getRecords(kind, all) {
      const recordKeys = getRecordKeys(kind, await keys())
      return Promise.all(all.map((key) => read(recordKeys.record(kind, key))))
    },
    async listRecords(kind, { limit, ...range }) {
      const recordKeys = getRecordKeys(kind, await keys())
      const { gt, lt } = recordKeys.records(kind, range)
      const found = gt < lt ? await entries(toNextKey(gt), lt, limit) : []
      const start = (KEY_PREFIX + recordKeys.record(kind, '')).length
      return found.map((entry) => ({ kind, key: entry.id.slice(start), value: parse(entry) }))
    },
    putSnapshots: async (rows) => apply(buildRows.snapshots(rows, await keys())),
    async getVideos(ids) {
      const { video } = await keys()
      return Promise.all(ids.map((id) => read(video(id))))
    },
    putVideos: async (rows) => apply(buildRows.videos(rows, await keys())),
    async listVideos(id, limit) {
      const { gt, lt } = (await keys()).videosAfter(id)
      const found = await entries(toNextKey(gt), lt, limit)
      return found.map(parse)
    },
    deleteVideos: async (ids) => apply(buildRows.videoDeletions(ids, await keys())),
    deletePoints: async (id, times) => apply(buildRows.pointDeletions(id, times, await keys())),
    async useSource(name) {
      const before = await sources()
      if (getCurrentSource(before) === name) return
      const next = withSource(before, name)
      await trackOutage(client.put(KEY_PREFIX + SOURCES_KEY, JSON.stringify(next), { durable: true }))
      known = next
    },
    countOtherSources: async () =>
      countSourceRows(await sources(), (range) => trackOutage(client.count(toRange(range)))),
    getUsage: () => read(USAGE_KEY),
    async putUsage(usage) {
      await trackOutage(client.put(KEY_PREFIX + USAGE_KEY, JSON.stringify(usage)))
    },
    close: () => client.close(),
  }
}

/** Codes of errors that occur before a connection to kv exists: the change never reached kv. */
const CONNECT_ERROR_CODES = new Set([
  'ECONNREFUSED',
  'EHOSTUNREACH',
  'ENETUNREACH',
  'ENOTFOUND',
  'EAI_AGAIN',
  'UND_ERR_CONNECT_TIMEOUT',
])
/**
 * Codes of refusals after which the outcome is unknown. `CONDITION_FAILED`: if the change arrived twice, kv
 * applied the first copy and refused the second. The other codes: the reply is not from kv.
 */
const UNCERTAIN_CODES = new Set(['CONDITION_FAILED', 'UNEXPECTED_REPLY', 'UNEXPECTED_REDIRECT'])
/** True if kv refused the change without applying it. */
const isRefusal = ({ status, code }: ServiceError) =>
  (status < 500 || status === 503 || status === 507) && !UNCERTAIN_CODES.has(code)

/** Returns the error for a failed change. */
function toOutcomeError(cause: unknown) {
  const { code } = cause as { code?: string }
  const isKnown = cause instanceof ServiceError ? isRefusal(cause) : CONNECT_ERROR_CODES.has(String(code))
  return isKnown ? errors.STATE_UNAVAILABLE : errors.OUTCOME_UNKNOWN
}
