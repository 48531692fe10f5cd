import type { Problem } from '@influencer-stats/runtime/problems'
import type { UpstreamTimer } from '@influencer-stats/runtime/upstream-timer'
import type { VideoNumbers } from '../core/video-numbers.ts'
import type { VideoDetails } from '../core/video-details.ts'
import type { StatsLogger } from '../logger/logger.ts'
import type { QuotaMeter } from '../quota/quota-meter.ts'
import type { ApiKeys } from './api-keys.ts'
import type { SideCaller } from './side-caller.ts'

/** Result of a request for videos. */
export interface FetchResult {
  /** In any order, with the counts that YouTube states. Videos that it omits are absent. */
  readonly found: readonly VideoNumbers[]
  /** Ids that could not be requested, or whose numbers are unreadable. */
  readonly failed: readonly string[]
  /** Reason of the failed ids: `UPSTREAM_UNAVAILABLE`. */
  readonly fault?: Problem
}

/** Fetches the numbers of videos from YouTube. */
export interface VideoClient {
  /** Maximum number of ids in one call, which costs one unit of quota. */
  readonly idsPerCall: number
  /**
   * Makes one call immediately.
   * @param ids distinct, at most `idsPerCall`
   * @throws Problem `UPSTREAM_UNAVAILABLE` when YouTube is unreachable, slow, refuses, or returns an unreadable reply
   */
  call(ids: readonly string[]): Promise<FetchResult>
  /** Fetches any number of distinct ids. The client decides on the number of calls. */
  fetch(ids: readonly string[]): Promise<FetchResult>
  /** Calls for channels and playlists, and look-ups. */
  readonly side: SideCaller
  /** Idempotent. */
  close(): Promise<void>
}

/** Decides which calls request details, and receives them. */
export interface VideoDetailsSink {
  /** True if a call for these ids also requests details. */
  needsDetails(ids: readonly string[]): boolean
  /** Receives the details of a call. @param ids the requested ids */
  recordDetails(ids: readonly string[], details: readonly VideoDetails[]): void
}

export interface VideoClientOptions {
  /** Address of the YouTube Data API: scheme, host and port. */
  readonly uri: string
  readonly keys: Pick<ApiKeys, 'current' | 'refuse'>
  /** Timeout of a call, from its beginning to the last byte of its reply (ms). */
  readonly timeout: number
  /** Maximum number of concurrent connections. */
  readonly connections: number
  /** Meter from which every call takes a unit. */
  readonly meter: QuotaMeter
  readonly recorder?: VideoDetailsSink | undefined
  readonly logger: StatsLogger
  /** Measures every call. */
  readonly timer?: UpstreamTimer
}
