import type { Bus } from '@influencer-stats/runtime/channel'
import type { Collections } from '../campaigns/collections.ts'
import { prepare, type PreparedReply, type StatsReading } from '../core/prepared-reply.ts'
import type { Reported } from '../core/posts/reported.ts'
import type { ReportedTotals } from '../posts/reported-totals.ts'
import type { StatsLogger } from '../logger/logger.ts'
import type { StatsSharedState, StatsMainMessage, StatsThreadMessage } from '../messages.ts'
import type { QuotaMeter } from '../quota/quota-meter.ts'
import type { UpstreamReader } from '../refresh/upstream-reader.ts'

/** Cache of the replies with the statistics of collections. It determines the cost of a read and the age of its numbers. */
export interface StatsCache {
  /** Returns the prepared reply if it is available synchronously. The hot route calls this first. */
  getReady(id: string): PreparedReply | undefined
  /**
   * Returns the reply; undefined if there is no such collection. If there are no numbers yet, waits for them, except with
   * the cache `refresh`.
   * @throws Problem `UPSTREAM_UNAVAILABLE`; `STATS_NOT_READY` from the cache `refresh`
   */
  read(id: string): Promise<PreparedReply | undefined>
  /** As `read`, but returns the numbers of each video. */
  readNumbers(id: string): Promise<StatsReading | undefined>
  /** Returns the age from which numbers are stale (ms): two refresh intervals. */
  getStaleAfter(): number
  /** Idempotent. */
  close(): Promise<void>
}

/** Both forms of a collection's numbers. */
export interface CachedNumbers {
  readonly reading: StatsReading
  readonly reply: PreparedReply
}

/** Creates the reads of a cache that stores both forms. @param find returns undefined if there is no such collection */
export const createReads = (
  find: (id: string) => Promise<CachedNumbers | undefined>,
): Pick<StatsCache, 'read' | 'readNumbers'> => ({
  read: async (id) => (await find(id))?.reply,
  readNumbers: async (id) => (await find(id))?.reading,
})

/** Returns the numbers with other reported sums. */
export function withReported({ reading, ...rest }: CachedNumbers, reported: Reported | undefined): CachedNumbers {
  const changed = { ...reading, reported }
  return { ...rest, reading: changed, reply: prepare(changed) }
}

export interface CacheOptions {
  readonly collections: Collections
  readonly upstream: UpstreamReader
  readonly logger: StatsLogger
  readonly meter: QuotaMeter
  readonly reported: ReportedTotals
  /** Minimum time between two refreshes of a number (ms). */
  readonly refreshInterval: number
  /** Maximum number of cached collections. Only the cache `lru` has a limit. */
  readonly size: number
}

/** Data that the main thread publishes, and the bus to that thread. */
export interface PublishedCacheOptions {
  readonly bus: Bus<StatsMainMessage, StatsThreadMessage>
  readonly replies: StatsSharedState['replies']
  /** Contains the interval at which the main thread refreshes everything. */
  readonly meter: Pick<QuotaMeter, 'interval'>
}

/** Sources of a cache's replies. A cache uses one of them. */
export interface CacheSources {
  readonly published: PublishedCacheOptions
  /** Opens the reader that calls YouTube on this thread. */
  openUpstream(): Promise<CacheOptions>
}
