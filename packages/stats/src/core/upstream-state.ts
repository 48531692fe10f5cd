import { isUpstreamWide, type UpstreamFault } from './circuit-breaker.ts'
import { toIsoTime } from './iso-time.ts'
import type { RemainingQuota } from './quota-budget.ts'
import { STAND_IN } from './sources.ts'

/** An outage of the API, as clients see it. Times are ISO 8601 texts. */
export interface UpstreamOutage {
  /**
   * `paused`: YouTube refuses all calls, or the daily budget is used up. `failing`: calls fail for another reason. No call
   * is made before `retryAt`.
   */
  readonly state: 'failing' | 'paused'
  /**
   * Google's machine-readable reason, such as `quotaExceeded`; the code of a network error, such as `ECONNREFUSED`; or
   * `dailyBudgetSpent`.
   */
  readonly reason?: string | undefined
  readonly detail: string
  /** Advice to the user: one sentence. */
  readonly remedy: string
  /** Absent if only the daily budget of this service is used up. */
  readonly since?: string
  readonly retryAt: string
  /** The refused API key, by its last four characters. */
  readonly key?: string | undefined
}

/** State of the API, and the remaining quota of the day. */
export interface UpstreamState extends Partial<Omit<UpstreamOutage, 'state'>> {
  /** `unknown`: no call has succeeded or failed yet, since the start or since a change of a refused key. */
  readonly state: 'ok' | 'unknown' | UpstreamOutage['state']
  readonly source: string
  /** Units per day; `null` without a limit. */
  readonly budget: { readonly limit: number | null; readonly used: number; readonly left: number | null }
}

/**
 * Converts a fault that pauses all calls to an outage.
 * @param since beginning of the pause (ms since the epoch)
 * @param until end of the pause (ms since the epoch)
 */
export function toOutage(fault: UpstreamFault, since: number, until: number): UpstreamOutage {
  const { reason, detail, remedy, key } = fault
  const state = isUpstreamWide(fault) ? 'paused' : 'failing'
  return {
    state,
    ...(reason && { reason }),
    detail,
    remedy,
    since: toIsoTime(since),
    retryAt: toIsoTime(until),
    ...(key && { key }),
  }
}

/** Results of the calls to YouTube until now. */
export interface CallResults {
  readonly outage: UpstreamOutage | undefined
  /** True if a call has succeeded: see `CircuitBreaker`. */
  readonly hasSucceeded: boolean
}

export interface UpstreamStateParts extends CallResults {
  readonly remainingQuota: RemainingQuota
  readonly used: number
  readonly source: string
  /** The API key in use, by its last four characters; `undefined` if it is for another source. */
  readonly key: string | undefined
  /** ms since the epoch */
  readonly now: number
}

/** Creates the outage in which no call is made because the daily budget of this service is used up. */
const createBudgetOutage = ({ budget, untilReset }: RemainingQuota, now: number): UpstreamOutage => ({
  state: 'paused',
  reason: 'dailyBudgetSpent',
  detail: `The daily budget of ${budget} units is used up`,
  remedy: 'Wait for the reset at midnight Pacific Time, or raise --daily-budget if the quota of the project is larger.',
  retryAt: toIsoTime(now + untilReset),
})

export function toUpstreamState({
  outage,
  hasSucceeded,
  remainingQuota,
  used,
  source,
  key,
  now,
}: UpstreamStateParts): UpstreamState {
  const { budget, left } = remainingQuota
  const known = outage ?? (left < 1 ? createBudgetOutage(remainingQuota, now) : undefined)
  return {
    state: hasSucceeded ? 'ok' : 'unknown',
    ...(key && source !== STAND_IN && { key }),
    ...known,
    source,
    budget: { limit: budget === 0 ? null : budget, used, left: budget === 0 ? null : left },
  }
}
