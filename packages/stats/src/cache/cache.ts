import type { Bus } from '@influencer-stats/runtime/channel'
import type { Collections } from '../collections.ts'
import type { Prepared } from '../core/prepared.ts'
import type { Logger } from '../logger/logger.ts'
import type { Shared, ToMain, ToThread } from '../messages.ts'
import type { QuotaMeter } from '../quota-meter.ts'
import type { UpstreamReader } from '../upstream-reader.ts'

/** What a read of a collection's statistics costs, and how fresh it is. */
export interface StatsCache {
  /** The ready-made reply, if it is at hand at this moment: what the hottest path asks first. */
  ready(id: string): Prepared | undefined
  /** The reply, waited for where it has to be made; nothing if there is no such collection. */
  read(id: string): Promise<Prepared | undefined>
  /** The reply with each video's numbers. */
  readByVideo(id: string): Promise<Prepared | undefined>
  /** How old numbers may be that are not called stale (ms): two intervals. */
  staleAfter(): number
  /** Idempotent. */
  close(): Promise<void>
}

export interface CacheOptions {
  readonly collections: Collections
  readonly upstream: UpstreamReader
  readonly logger: Logger
  readonly meter: QuotaMeter
  /** Numbers are refreshed at most this often (ms). */
  readonly refreshInterval: number
  /** Most collections to keep ready. */
  readonly size: number
}

/** What main publishes, and main itself. */
export interface Published {
  readonly bus: Bus<ToMain, ToThread>
  readonly replies: Shared['replies']
  /** Has the interval at which main refreshes everything. */
  readonly meter: Pick<QuotaMeter, 'interval'>
}

/** Where a cache has its replies from: one or the other. */
export interface CacheSources {
  readonly published: Published
  /** Opens what asks YouTube on this thread. */
  openUpstream(): Promise<CacheOptions>
}
