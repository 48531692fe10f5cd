import { createKvClient, type KvChange, type KvValue } from '@influencer-stats/kv/client'
import { errors } from '../errors.ts'
import type { State, StateOptions } from './state.ts'

// The keys of state/level behind a prefix: what else is kept in the service does not meet them. An id has no "!"; '"'
// is the character after it, and "~" sorts after every digit of a time.
const PREFIX = 'stats/'
const collectionKey = (id: string) => `${PREFIX}c!${id}`
const snapshotKey = (id: string) => `${PREFIX}s!${id}`
const pointKey = (id: string, at: number) => `${PREFIX}h!${id}!${String(at).padStart(16, '0')}`
const USAGE = `${PREFIX}usage`

/** The first key after another: ranges of the service include their start and leave out their end. */
const after = (key: string) => `${key}\0`

/** How long the service may be silent (ms); it refuses writes that wait for 2 s by itself. */
const TIMEOUT = 3_000

const parse = ({ value }: Pick<KvValue, 'value'>) => JSON.parse(value.toString())

/**
 * The key-value service at `kvUri`, over HTTP. It keeps the changes of its clients in order, so that all threads may read
 * while one owner writes.
 * @throws Problem `STATE_UNAVAILABLE` from every method while the service is down, refuses the token or a write
 */
export async function createKvState({ kvUri, kvToken, onOutage }: Omit<StateOptions, 'folder'>): Promise<State> {
  const client = createKvClient(kvUri, { token: kvToken, timeout: TIMEOUT })
  let isOut = false

  /** What the service answers. Whatever else happens is not the fault of who asks us. */
  async function answered<T>(answer: Promise<T>): Promise<T> {
    try {
      const value = await answer
      isOut = false
      return value
    } catch (cause) {
      if (!isOut) onOutage(cause)
      isOut = true
      throw errors.STATE_UNAVAILABLE(undefined, { cause, headers: { 'retry-after': '1' } })
    }
  }

  async function read(key: string) {
    const found = await answered(client.get(key))
    return found && parse(found)
  }
  const entries = (start: string, end: string, limit?: number) =>
    answered(Array.fromAsync(client.entries({ start, end, limit })))
  const apply = (changes: readonly KvChange[], options?: { durable: boolean }) =>
    answered(client.batch(changes, options))

  return {
    isRemote: true,
    get: (id) => read(collectionKey(id)),
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
    async put(collection) {
      await answered(client.put(collectionKey(collection.id), JSON.stringify(collection), { durable: true }))
    },
    async delete(id) {
      const points = await entries(pointKey(id, 0), `${PREFIX}h!${id}!~`)
      const keys = [collectionKey(id), snapshotKey(id), ...points.map((point) => point.id)]
      await apply(
        keys.map((key) => ({ op: 'delete', id: key })),
        { durable: true },
      )
    },
    putSnapshot(id, snapshot, point) {
      const puts: KvChange[] = [{ op: 'put', id: snapshotKey(id), value: JSON.stringify(snapshot) }]
      if (point) puts.push({ op: 'put', id: pointKey(id, point.at), value: JSON.stringify(point) })
      return apply(puts)
    },
    deletePoints: (id, times) => apply(times.map((at) => ({ op: 'delete', id: pointKey(id, at) }))),
    usage: () => read(USAGE),
    async putUsage(usage) {
      await answered(client.put(USAGE, JSON.stringify(usage)))
    },
    close: () => client.close(),
  }
}
