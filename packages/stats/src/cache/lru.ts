import { LRUCache } from 'lru-cache'
import { prepare, prepareByVideo, STALE_INTERVALS, type Prepared, type Reading } from '../core/prepared.ts'
import { IDS_PER_CALL, refreshInterval } from '../core/pace.ts'
import type { Collection } from '../state/state.ts'
import type { CacheOptions, StatsCache } from './cache.ts'

interface Entry {
  readonly reading: Reading
  readonly reply: Prepared
}

// Numbers older than this many intervals are no longer served while fresher ones are fetched.
const OLDEST = 3
const RETRY_STALE_AFTER = 1_000

/**
 * Keeps the collections read most recently, on this thread. An old entry is served once more while one request fetches
 * it anew. The key has the collection's revision in it, so that a change made on any thread is seen at once.
 */
export function createLruCache({
  collections,
  upstream,
  meter,
  refreshInterval: fastest,
  size,
}: CacheOptions): StatsCache {
  const entries = new LRUCache<string, Entry, Collection>({
    max: size,
    ttl: fastest,
    allowStale: true,
    // Whoever waits for an entry gets it, also if it has made room for others meanwhile.
    ignoreFetchAbort: true,
    async fetchMethod(_key, _old, { options, context }) {
      const reading = await upstream.read(context)
      options.ttl = reading.failed ? RETRY_STALE_AFTER : interval(context.videos.length)
      return { reading, reply: prepare(reading) }
    },
  })

  /** As if all cached collections were like this one: what a thread knows of what a refresh of everything costs. */
  function interval(videos: number): number {
    const calls = Math.ceil(videos / IDS_PER_CALL) * Math.max(1, entries.size)
    return refreshInterval(calls, meter.budget, meter.used, fastest, Date.now())
  }

  const keyOf = ({ id, revision }: Collection) => `${id}@${revision}`

  async function find(id: string): Promise<Entry | undefined> {
    const collection = await collections.get(id)
    if (!collection) return undefined
    const key = keyOf(collection)
    const tooOld = entries.getRemainingTTL(key) < -OLDEST * fastest
    return entries.fetch(key, { context: collection, allowStale: !tooOld })
  }

  return {
    ready(id) {
      if (collections.isRemote) return undefined
      const collection = collections.get(id)
      if (!collection || collection instanceof Promise) return undefined
      const key = keyOf(collection)
      return entries.getRemainingTTL(key) > 0 ? entries.get(key)?.reply : undefined
    },
    async read(id) {
      return (await find(id))?.reply
    },
    async readByVideo(id) {
      const entry = await find(id)
      return entry && prepareByVideo(entry.reading)
    },
    staleAfter: () => STALE_INTERVALS * interval(1),
    async close() {
      entries.clear()
    },
  }
}
