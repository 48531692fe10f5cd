import { prepare, prepareByVideo, STALE_INTERVALS, type Reading } from '../core/prepared.ts'
import type { CacheOptions, StatsCache } from './cache.ts'

/** Every read asks YouTube. */
export function createNoCache({ collections, upstream, logger, refreshInterval }: CacheOptions): StatsCache {
  async function readWith<T>(id: string, toReply: (reading: Reading) => T): Promise<T | undefined> {
    logger.debug(`statistics of ${id} asked for`)
    const collection = await collections.get(id)
    return collection && toReply(await upstream.read(collection))
  }
  return {
    ready: () => undefined,
    read: (id) => readWith(id, prepare),
    readByVideo: (id) => readWith(id, prepareByVideo),
    staleAfter: () => STALE_INTERVALS * refreshInterval,
    async close() {},
  }
}
