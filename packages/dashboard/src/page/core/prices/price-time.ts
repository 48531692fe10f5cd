/** A date and a time of day in the reader's time zone. The time is '' for the whole day. */
export interface DayTime {
  readonly date: string
  readonly time: string
}

const pad = (number: number) => String(number).padStart(2, '0')

/** The reader's date and time of day. @param at ms since 1970 */
export function toDayTime(at: number): DayTime {
  const local = new Date(at)
  const date = [local.getFullYear(), pad(local.getMonth() + 1), pad(local.getDate())].join('-')
  return { date, time: `${pad(local.getHours())}:${pad(local.getMinutes())}` }
}

/** True for a date without a time, which is the same day in all time zones. */
export const isDay = (text: string): boolean => !text.includes('T')

/** Converts a time of prices, a date or a time in UTC, to the reader's. */
export const readDayTime = (text: string): DayTime =>
  isDay(text) ? { date: text, time: '' } : toDayTime(Date.parse(text))

/** Writes a time as prices reads it. '' if the date is absent or the time does not exist. */
export function writeDayTime({ date, time }: DayTime): string {
  if (!date || !time) return date
  const at = Date.parse(`${date}T${time}`)
  return Number.isNaN(at) ? '' : toMinute(at)
}

/** A time in UTC without seconds. @param at ms since 1970 */
const toMinute = (at: number) => `${new Date(at).toISOString().slice(0, 16)}Z`

const MINUTE_MS = 60_000

/** When a price is valid. `to` is the last day, or the first minute after a time. */
export interface Validity {
  readonly from?: string
  readonly to?: string
}

/** The time nearest to `at` at which a price is valid. */
export function findNearestTime({ from, to }: Validity, at: string): string {
  if (from !== undefined && Date.parse(from) > Date.parse(at)) return from
  if (to === undefined) return at
  return isDay(to) ? to : toMinute(Date.parse(to) - MINUTE_MS)
}
