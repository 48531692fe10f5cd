// A moment is a number of minutes since 1970 in UTC.

const MINUTE_MS = 60_000
export const DAY_MINUTES = 1_440
const DATE_PATTERN = /^\d{4}-\d\d-\d\d$/
const TIME_PATTERN = /^(\d{4}-\d\d-\d\d)T([01]\d|2[0-3]):([0-5]\d)(?::00)?(?:Z|([+-])([01]\d|2[0-3]):([0-5]\d))$/
const MIN_MOMENT = Date.parse('0000-01-01T00:00Z') / MINUTE_MS
const MAX_MOMENT = Date.parse('9999-12-31T23:59Z') / MINUTE_MS

/** The forms of moments, for error messages. */
export const MOMENT_DESCRIPTION = 'a date such as 2026-01-31 or a time such as 2026-01-31T18:00+01:00'
export const SEARCH_MOMENT_DESCRIPTION = `now, ${MOMENT_DESCRIPTION}`

/** Limits for a missing moment: before and after every moment. */
export const FIRST_MOMENT = -Infinity
export const LAST_MOMENT = Infinity

// Segments of indexes have 32 bits for a moment, which end in the year 6053.
const MIN_SATURATED = -0x8000_0000
const MAX_SATURATED = 0x7fff_ffff

/** Returns a first moment, or the moment of a search, in 32 bits. After the year 6053 all of them are equal. */
export const saturateStart = (moment: number): number => Math.max(MIN_SATURATED, Math.min(MAX_SATURATED - 1, moment))

/** Returns an end in 32 bits. Ends after the year 6053 are after every moment. */
export const saturateEnd = (moment: number): number => Math.max(MIN_SATURATED, Math.min(MAX_SATURATED, moment))

/** Returns the moment of 32 bits that mean a start or an end. */
export function fromSaturated(moment: number): number {
  if (moment === MIN_SATURATED) return FIRST_MOMENT
  return moment === MAX_SATURATED ? LAST_MOMENT : moment
}

/** True if a text is a calendar day, YYYY-MM-DD. */
export function isDate(text: string): boolean {
  if (!DATE_PATTERN.test(text)) return false
  const time = Date.parse(text)
  // Some engines parse 2026-02-30 as 2 March, others refuse it.
  return !Number.isNaN(time) && new Date(time).toISOString().startsWith(text)
}

/**
 * Parses a date, which is its first minute in UTC, or a time with a zone such as `2026-01-31T18:00+01:00`.
 * @returns undefined for any other text, and for a moment outside of the years 0 to 9999
 */
export function parseMoment(text: string): number | undefined {
  if (isDate(text)) return Date.parse(text) / MINUTE_MS
  const [, date, hours, minutes, sign, zoneHours, zoneMinutes] = TIME_PATTERN.exec(text) ?? []
  if (date === undefined || !isDate(date)) return undefined
  const zone = sign === undefined ? 0 : Number(`${sign}1`) * (Number(zoneHours) * 60 + Number(zoneMinutes))
  const moment = Date.parse(date) / MINUTE_MS + Number(hours) * 60 + Number(minutes) - zone
  return moment < MIN_MOMENT || moment > MAX_MOMENT ? undefined : moment
}

export const isMoment = (text: string): boolean => parseMoment(text) !== undefined

/** Parses the end of a time: a date includes its whole day, and a time is the first moment after the end. */
export function parseEnd(text: string): number | undefined {
  const moment = parseMoment(text)
  return moment !== undefined && isDate(text) ? moment + DAY_MINUTES : moment
}

/** Returns a moment as text: midnights as dates. */
export const formatStart = (moment: number): string =>
  moment % DAY_MINUTES === 0 ? formatDate(moment) : formatTime(moment)

/** Returns an end as text: the end of a day as the date of this day. */
export const formatEnd = (moment: number): string =>
  moment % DAY_MINUTES === 0 && moment > MIN_MOMENT ? formatDate(moment - DAY_MINUTES) : formatTime(moment)

const formatDate = (moment: number) => new Date(moment * MINUTE_MS).toISOString().slice(0, 10)
const formatTime = (moment: number) => `${new Date(moment * MINUTE_MS).toISOString().slice(0, 16)}Z`

/** The current minute. */
export const getCurrentMoment = (): number => Math.floor(Date.now() / MINUTE_MS)
