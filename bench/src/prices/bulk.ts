import { runInOwnProcess } from '../load/common/own-process.ts'
import type { CatalogPlan } from './catalogs.ts'
import type { IndexName } from './searches.ts'

/** Bulk requests, one after the other on each connection. */
export interface BulkPlan {
  readonly url: string
  readonly index: IndexName
  readonly catalog: CatalogPlan
  /** Searches in a request, for random rows. */
  readonly items: number
  readonly connections: number
  /** Seconds, and at least one request a connection. */
  readonly duration: number
  /** Seconds before, with requests of at most 3,000 searches. */
  readonly warmUp: number
  /** The server's process, whose memory and processor time are watched. */
  readonly pid: number
  readonly pin?: readonly number[]
}

export interface BulkResult {
  readonly requests: number
  /** From the first request's first byte to the last one's last (s). */
  readonly seconds: number
  /** From the first byte sent to the last one received (ms), of each request. */
  readonly milliseconds: readonly number[]
  /** Processor time of the server (s), all requests together. NaN where the platform cannot tell. */
  readonly serverCpu: number
  /** Resident memory of the server before, and at its highest (MB). */
  readonly before: number
  readonly peak: number
}

const OVERHEAD = 60_000

/** @throws Error when an answer was wrong or missing */
export const runBulk = (plan: BulkPlan): Promise<BulkResult> =>
  runInOwnProcess('price-bulk', plan, (plan.duration + plan.warmUp) * 1000 + OVERHEAD)
