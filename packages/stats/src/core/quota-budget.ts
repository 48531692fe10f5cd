import { toPacificTime } from '@influencer-stats/runtime/pacific-time'

/** Milliseconds. */
export const DAY_MS = 86_400_000

/** Ids in one call of `videos.list`; a call costs one unit of quota, whatever it asks for. */
export const IDS_PER_CALL = 50

/** How far a day's quota has been used. */
export interface QuotaUsage {
  /** The day that the quota belongs to, `YYYY-MM-DD` in Pacific Time. */
  readonly day: string
  readonly used: number
}

/** How long until the quota starts anew (ms). An hour off on the two days a year when the clocks change. */
export const getTimeUntilReset = (now: number): number => DAY_MS - (toPacificTime(now) % DAY_MS)

/** What of a day's quota may still be used. */
export interface RemainingQuota {
  /** Units a day; 0 means that nothing limits. */
  readonly budget: number
  /** Units left: `Infinity` where nothing limits. */
  readonly left: number
  /** How long until the quota starts anew (ms). */
  readonly untilReset: number
}

export const getRemainingQuota = (budget: number, used: number, now: number): RemainingQuota => ({
  budget,
  left: budget === 0 ? Infinity : Math.max(0, budget - used),
  untilReset: getTimeUntilReset(now),
})

/**
 * How long a number of calls takes that are spread so that a day costs no more than the budget (ms): longer once less
 * is left than the rest of the day would take, no longer than until the quota starts anew.
 */
export function getPacedInterval({ budget, left, untilReset: rest }: RemainingQuota, calls: number): number {
  if (budget === 0) return 0
  return Math.max((DAY_MS * calls) / budget, left < calls ? rest : (rest * calls) / left)
}

/** How often everything can be refreshed (ms): never more often than `fastest`. @param calls that a refresh takes */
export function computeRefreshInterval(
  calls: number,
  budget: number,
  used: number,
  minInterval: number,
  now: number,
): number {
  return Math.max(minInterval, getPacedInterval(getRemainingQuota(budget, used, now), calls))
}
