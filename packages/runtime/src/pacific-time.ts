const HOUR_MS = 3_600_000
const MARCH = 2
const NOVEMBER = 10

/** The `nth` Sunday of a month at an hour in UTC (ms since the epoch). */
function getSunday(nth: number, year: number, month: number, hour: number): number {
  const first = new Date(Date.UTC(year, month, 1, hour))
  const toSunday = (7 - first.getUTCDay()) % 7
  return first.getTime() + (toSunday + (nth - 1) * 7) * 24 * HOUR_MS
}

/**
 * A time (ms since the epoch) moved so that its UTC fields read as a clock in Pacific Time does. The rule since 2007: an hour
 * ahead from the second Sunday in March to the first in November, at two o'clock. Not by `Intl`, whose tables take 11 MB of
 * a process's memory.
 */
export function toPacificTime(now: number): number {
  const year = new Date(now).getUTCFullYear()
  const isSummer = now >= getSunday(2, year, MARCH, 10) && now < getSunday(1, year, NOVEMBER, 9)
  return now - (isSummer ? 7 : 8) * HOUR_MS
}

/** The date in Pacific Time, `YYYY-MM-DD`: Google counts quota by it. @param now ms since the epoch */
export const toPacificDay = (now: number): string => new Date(toPacificTime(now)).toISOString().slice(0, 10)
