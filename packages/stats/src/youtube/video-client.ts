import type { Problem } from '@influencer-stats/runtime/problems'
import type { UpstreamTimer } from '@influencer-stats/runtime/upstream-timer'
import type { VideoNumbers } from '../core/video-numbers.ts'
import type { VideoDetails } from '../core/video-details.ts'
import type { StatsLogger } from '../logger/logger.ts'
import type { QuotaMeter } from '../quota-meter.ts'
import type { ApiKeys } from './api-keys.ts'

/** What became of a question. */
export interface FetchResult {
  /** In any order, with the counts that YouTube states. Videos that it omits are absent. */
  readonly found: readonly VideoNumbers[]
  /** Those that could not be asked for, or whose numbers could not be read. */
  readonly failed: readonly string[]
  /** Why: `UPSTREAM_UNAVAILABLE`. */
  readonly fault?: Problem
}

/** Asks YouTube for the numbers of videos. */
export interface VideoClient {
  /** Most ids of one call, which costs one unit of quota. */
  readonly idsPerCall: number
  /**
   * One call, now.
   * @param ids distinct, at most `idsPerCall`
   * @throws Problem `UPSTREAM_UNAVAILABLE` when YouTube cannot be reached, is slow, refuses, or talks nonsense
   */
  call(ids: readonly string[]): Promise<FetchResult>
  /** Any number of distinct ids, in as many calls as the client makes of them. */
  fetch(ids: readonly string[]): Promise<FetchResult>
  /** Idempotent. */
  close(): Promise<void>
}

/** Decides which calls request details, and takes them. */
export interface VideoDetailsSink {
  /** Whether a call for these requests details, too. */
  needsDetails(ids: readonly string[]): boolean
  /** @param ids of the call */
  recordDetails(ids: readonly string[], details: readonly VideoDetails[]): void
}

export interface VideoClientOptions {
  /** Where the YouTube Data API is: scheme, host and port. */
  readonly uri: string
  readonly keys: Pick<ApiKeys, 'current' | 'refuse'>
  /** How long a call may take, from its beginning to the last byte of its reply (ms). */
  readonly timeout: number
  /** Most connections at a time. */
  readonly connections: number
  /** Every call takes a unit from here. */
  readonly meter: QuotaMeter
  readonly recorder?: VideoDetailsSink | undefined
  readonly logger: StatsLogger
  /** Times every call. */
  readonly timer?: UpstreamTimer
}
