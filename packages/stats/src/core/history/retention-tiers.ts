import { DAY_MS } from '../quota-budget.ts'

/** Mean length of a month (ms). */
const MONTH_MS = (365.25 / 12) * DAY_MS

/** Maximum age of the points of a history (ms). */
export interface RetentionTiers {
  /** Of points that are not the last of their day. Of those older than a day, one per hour remains. */
  readonly hourly: number
  /** Of every point. At least `hourly`. */
  readonly daily: number
}

/** Returns the tiers of the settings. A daily tier that is no longer than the hourly one adds nothing. */
export function toRetentionTiers(settings: { historyDays: number; historyMonths: number }): RetentionTiers {
  const hourly = settings.historyDays * DAY_MS
  return { hourly, daily: Math.max(hourly, settings.historyMonths * MONTH_MS) }
}
