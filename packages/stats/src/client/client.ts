import type { VideoNumbers } from '../core/numbers.ts'
import type { Logger } from '../logger/logger.ts'
import type { QuotaMeter } from '../quota-meter.ts'

/** Asks YouTube for the numbers of videos. */
export interface VideoClient {
  /**
   * @param ids distinct, any number
   * @returns what YouTube knows, in any order; videos it does not know are absent
   * @throws Problem `UPSTREAM_UNAVAILABLE` when it cannot be reached, is slow, refuses, or talks nonsense
   */
  fetch(ids: readonly string[]): Promise<VideoNumbers[]>
  /** Idempotent. */
  close(): Promise<void>
}

export interface ClientOptions {
  /** Where the YouTube Data API is: scheme, host and port. */
  readonly uri: string
  readonly key: string
  /** How long a call may take (ms). */
  readonly timeout: number
  /** Most connections at a time. */
  readonly connections: number
  /** Every call takes a unit from here. */
  readonly meter: QuotaMeter
  readonly logger: Logger
}
