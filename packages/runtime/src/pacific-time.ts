const HOUR_MS = 3_600_000
const MARCH = 2
const NOVEMBER = 10

/** Returns the `nth` Sunday of a month at an hour in UTC (ms since the epoch). */
function getSunday(nth: number, year: number, month: number, hour: number): number {
  const first = new Date(Date.UTC(year, month, 1, hour))
  const toSunday = (7 - first.getUTCDay()) % 7
  return first.getTime() + (toSunday + (nth - 1) * 7) * 24 * HOUR_MS
}

/**
 * Shifts a time (ms since the epoch), so that its UTC fields show the clock time in the Pacific zone. Rule since 2007:
 * from the second Sunday in March to the first in November, at two o'clock, the clock is one hour ahead. `Intl` is not
 * used, because its tables take 11 MB of a process's memory.
 */
export function toPacificTime(now: number): number {
  const year = new Date(now).getUTCFullYear()
  const isSummer = now >= getSunday(2, year, MARCH, 10) && now < getSunday(1, year, NOVEMBER, 9)
  return now - (isSummer ? 7 : 8) * HOUR_MS
}

/** Returns the date in Pacific Time, `YYYY-MM-DD`. Google counts quota by it. @param now ms since the epoch */
export const toPacificDay = (now: number): string => new Date(toPacificTime(now)).toISOString().slice(0, 10)
