import { DAY_MS } from '../quota-budget.ts'

/** More than the largest distance between a time zone and UTC (ms). */
const MAX_OFFSET_MS = 16 * 3_600_000

/** Days of other years begin as in UTC: the texts of `Intl` have four digits only for years of four digits. */
const MIN_ZONED_MS = Date.UTC(1900, 0, 1)
const MAX_ZONED_MS = Date.UTC(9_999, 11, 30)

/** The calendar of a time zone. Days are texts such as 2026-01-31. */
export interface ZonedDays {
  /** Returns the day of a time (ms since the epoch). */
  getDay(at: number): string
  /** Returns the first moment of a day (ms since the epoch). If the zone skips the day, that of the day after it. */
  findStart(day: string): number
  /** Returns the first moment after a day (ms since the epoch). */
  findEnd(day: string): number
}

/** @param zone name of an IANA time zone @throws RangeError if there is no such zone */
export function createZonedDays(zone: string): ZonedDays {
  const format = new Intl.DateTimeFormat('sv-SE', {
    timeZone: zone,
    calendar: 'iso8601',
    numberingSystem: 'latn',
    year: 'numeric',
    month: '2-digit',
    day: '2-digit',
  })
  const getDay = (at: number) => format.format(at)

  function findStart(day: string): number {
    const utc = Date.parse(day)
    if (utc < MIN_ZONED_MS || utc > MAX_ZONED_MS) return utc
    // A search, because a day of a zone may begin later than at 0:00, or not exist.
    let [low, high] = [utc - MAX_OFFSET_MS, utc + MAX_OFFSET_MS]
    while (high - low > 1) {
      const middle = Math.floor((low + high) / 2)
      if (getDay(middle) >= day) high = middle
      else low = middle
    }
    return high
  }

  return { getDay, findStart, findEnd: (day) => findStart(addDay(day)) }
}

/** Returns the day after a day. */
function addDay(day: string): string {
  const text = new Date(Date.parse(day) + DAY_MS).toISOString()
  return text.slice(0, text.indexOf('T'))
}
