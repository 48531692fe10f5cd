import { prepare, STALE_INTERVALS, type StatsReading } from '../core/prepared-reply.ts'
import type { CacheOptions, StatsCache } from './stats-cache.ts'

/** Calls YouTube for every read. */
export function createNoCache({ collections, upstream, logger, refreshInterval }: CacheOptions): StatsCache {
  async function readNumbers(id: string): Promise<StatsReading | undefined> {
    logger.debug(`request for the statistics of ${id}`)
    const collection = await collections.state.get(id)
    return collection && upstream.read(collection)
  }
  return {
    getReady: () => undefined,
    async read(id) {
      const reading = await readNumbers(id)
      return reading && prepare(reading)
    },
    readNumbers,
    getStaleAfter: () => STALE_INTERVALS * refreshInterval,
    async close() {},
  }
}
