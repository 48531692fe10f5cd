import { prepare, prepareByVideo, STALE_INTERVALS, type StatsReading } from '../core/prepared-reply.ts'
import type { CacheOptions, StatsCache } from './stats-cache.ts'

/** Calls YouTube for every read. */
export function createNoCache({ collections, upstream, logger, refreshInterval }: CacheOptions): StatsCache {
  async function readWith<T>(id: string, toReply: (reading: StatsReading) => T): Promise<T | undefined> {
    logger.debug(`request for the statistics of ${id}`)
    const collection = await collections.get(id)
    return collection && toReply(await upstream.read(collection))
  }
  return {
    getReady: () => undefined,
    read: (id) => readWith(id, prepare),
    readByVideo: (id) => readWith(id, prepareByVideo),
    getStaleAfter: () => STALE_INTERVALS * refreshInterval,
    async close() {},
  }
}
