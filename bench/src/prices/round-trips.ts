import { runInOwnProcess } from '../load/common/own-process.ts'
import type { CatalogPlan } from './catalogs.ts'
import type { Nanoseconds } from './lookups.ts'
import type { IndexName } from './searches.ts'

/** One search after the other over HTTP, client and server in one thread: as the source's HTTPClientServer. */
export interface RoundTripsPlan {
  readonly index: IndexName
  readonly catalog: CatalogPlan
  readonly rounds: number
  /** Seconds of a round, and before the first one. */
  readonly duration: number
  readonly pin?: readonly number[]
}

export interface RoundTripsResult {
  /** From the request's text to its parsed answer. */
  readonly roundTrip: Nanoseconds
}

const LIMIT = 120_000

/** @throws Error when an answer was wrong */
export const runRoundTrips = (plan: RoundTripsPlan): Promise<RoundTripsResult> =>
  runInOwnProcess('price-round-trips', plan, LIMIT)
