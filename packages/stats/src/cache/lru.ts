import { LRUCache } from 'lru-cache'
import { prepare, STALE_INTERVALS } from '../core/prepared-reply.ts'
import { IDS_PER_CALL, computeRefreshInterval } from '../core/quota-budget.ts'
import type { Collection } from '../state/stats-state.ts'
import { createReads, withReported, type CachedNumbers, type CacheOptions, type StatsCache } from './stats-cache.ts'

/** An entry that expired more than this many minimum intervals ago is not served: the read waits for the fetch. */
const MAX_EXPIRED_INTERVALS = 3
/** Validity of the last known numbers after a failed fetch (ms). */
const STALE_RETRY_MS = 1_000

/**
 * Caches the most recently read collections on this thread. While one fetch replaces an expired entry, reads get the
 * expired entry. The key contains the collection's revision, so a change on any thread is visible at once.
 */
export function createLruCache({
  collections: { state },
  upstream,
  meter,
  reported,
  refreshInterval: minInterval,
  size,
}: CacheOptions): StatsCache {
  const entries = new LRUCache<string, CachedNumbers, Collection>({
    max: size,
    ttl: minInterval,
    allowStale: true,
    // A caller that waits for a fetch gets its result even if the entry is evicted meanwhile.
    ignoreFetchAbort: true,
    async fetchMethod(_key, _old, { options, context }) {
      const reading = await upstream.read(context)
      options.ttl = reading.failed ? STALE_RETRY_MS : getInterval(context.videos.length)
      return { reading, reply: prepare(reading) }
    },
  })

  /**
   * Returns the refresh interval (ms). A thread does not know the cost of refreshing everything, so it assumes that all
   * cached collections have this size.
   * @param videos number of videos of a collection
   */
  function getInterval(videos: number): number {
    const calls = Math.ceil(videos / IDS_PER_CALL) * Math.max(1, entries.size)
    return computeRefreshInterval(meter.remainingQuota, calls, minInterval)
  }

  // The numbers of YouTube in an entry remain as they are.
  reported.onChange = (updates) => {
    const changed = new Map(updates)
    // `set` moves an entry to the front, so the entries are listed before.
    const listed = [...entries.entries()]
    for (const [key, entry] of listed) {
      const id = key.slice(0, key.lastIndexOf('@'))
      const ttl = Math.max(1, Math.ceil(entries.getRemainingTTL(key)))
      if (changed.has(id)) entries.set(key, withReported(entry, changed.get(id)), { ttl })
    }
  }

  const toKey = ({ id, revision }: Collection) => `${id}@${revision}`

  async function find(id: string): Promise<CachedNumbers | undefined> {
    const collection = await state.get(id)
    if (!collection) return undefined
    const key = toKey(collection)
    const tooOld = entries.getRemainingTTL(key) < -MAX_EXPIRED_INTERVALS * minInterval
    return entries.fetch(key, { context: collection, allowStale: !tooOld })
  }

  return {
    getReady(id) {
      if (state.isRemote) return undefined
      const collection = state.get(id)
      if (!collection || collection instanceof Promise) return undefined
      const key = toKey(collection)
      return entries.getRemainingTTL(key) > 0 ? entries.get(key)?.reply : undefined
    },
    ...createReads(find),
    getStaleAfter: () => STALE_INTERVALS * getInterval(1),
    async close() {
      entries.clear()
    },
  }
}
