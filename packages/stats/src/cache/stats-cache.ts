import type { Bus } from '@influencer-stats/runtime/channel'
import type { Collections } from '../collections.ts'
import type { PreparedReply } from '../core/prepared-reply.ts'
import type { StatsLogger } from '../logger/logger.ts'
import type { StatsSharedState, StatsMainMessage, StatsThreadMessage } from '../messages.ts'
import type { QuotaMeter } from '../quota-meter.ts'
import type { UpstreamReader } from '../upstream-reader.ts'

/** What a read of a collection's statistics costs, and how fresh it is. */
export interface StatsCache {
  /** The ready-made reply, if it is at hand at this moment: what the hottest path asks first. */
  getReady(id: string): PreparedReply | undefined
  /** The reply, waited for where it has to be made; nothing if there is no such collection. */
  read(id: string): Promise<PreparedReply | undefined>
  /** The reply with each video's numbers. */
  readByVideo(id: string): Promise<PreparedReply | undefined>
  /** How old numbers may be that are not called stale (ms): two intervals. */
  getStaleAfter(): number
  /** Idempotent. */
  close(): Promise<void>
}

export interface CacheOptions {
  readonly collections: Collections
  readonly upstream: UpstreamReader
  readonly logger: StatsLogger
  readonly meter: QuotaMeter
  /** Numbers are refreshed at most this often (ms). */
  readonly refreshInterval: number
  /** Most collections to keep ready. */
  readonly size: number
}

/** What main publishes, and main itself. */
export interface PublishedCacheOptions {
  readonly bus: Bus<StatsMainMessage, StatsThreadMessage>
  readonly replies: StatsSharedState['replies']
  /** Has the interval at which main refreshes everything. */
  readonly meter: Pick<QuotaMeter, 'interval'>
}

/** Where a cache has its replies from: one or the other. */
export interface CacheSources {
  readonly published: PublishedCacheOptions
  /** Opens what asks YouTube on this thread. */
  openUpstream(): Promise<CacheOptions>
}
