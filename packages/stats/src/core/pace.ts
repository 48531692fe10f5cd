/** Milliseconds. */
export const DAY = 86_400_000

/** How far a day's quota has been used. */
export interface Usage {
  /** The day that the quota belongs to, `YYYY-MM-DD` in Pacific Time. */
  readonly day: string
  readonly used: number
}

// YouTube's quota starts anew at midnight Pacific Time.
const pacificDate = new Intl.DateTimeFormat('en-CA', { timeZone: 'America/Los_Angeles' })
const pacificClock = new Intl.DateTimeFormat('en-GB', { timeZone: 'America/Los_Angeles', timeStyle: 'medium' })

/** The quota's day at a time (ms since the epoch), as `YYYY-MM-DD`. */
export const quotaDay = (now: number): string => pacificDate.format(now)

/** How long until the quota starts anew (ms). An hour off on the two days a year when the clocks change. */
export function untilReset(now: number): number {
  const [hours = 0, minutes = 0, seconds = 0] = pacificClock.format(now).split(':').map(Number)
  return DAY - ((hours * 60 + minutes) * 60 + seconds) * 1000 - (now % 1000)
}

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
