import { toPacificTime } from '@influencer-stats/runtime/pacific-time'

/** Milliseconds. */
export const DAY = 86_400_000

/** Ids in one call of `videos.list`; a call costs one unit of quota, whatever it asks for. */
export const IDS_PER_CALL = 50

/** How far a day's quota has been used. */
export interface Usage {
  /** The day that the quota belongs to, `YYYY-MM-DD` in Pacific Time. */
  readonly day: string
  readonly used: number
}

/** How long until the quota starts anew (ms). An hour off on the two days a year when the clocks change. */
export const untilReset = (now: number): number => DAY - (toPacificTime(now) % DAY)

/**
 * How often everything can be refreshed (ms): never more often than `fastest`, never so often that a day costs more
 * than the budget, and slower once less is left than the rest of the day would take.
 *
 * @param calls upstream calls of one refresh of everything
 * @param budget units a day; 0 means that nothing limits
 */
export function refreshInterval(calls: number, budget: number, used: number, fastest: number, now: number): number {
  if (budget === 0) return fastest
  const left = budget - used
  if (left < calls) return Math.max(fastest, untilReset(now))
  return Math.max(fastest, (DAY * calls) / budget, (untilReset(now) * calls) / left)
}
