// Dates and times as minutes since 1970, in UTC.

const MINUTES_OF_DAY = 1_440
const MOMENT_PATTERN = /^(\d{4})-(\d\d)-(\d\d)(?:T(\d\d):(\d\d)(?::00)?(?:Z|([+-])(\d\d):(\d\d)))?$/

const isLeapYear = (year: number) => (year % 4 === 0 && year % 100 !== 0) || year % 400 === 0
const getDaysOfMonth = (year: number, month: number) =>
  month === 2 ? 28 + Number(isLeapYear(year)) : 30 + ((month + Math.floor(month / 8)) % 2)

/** Returns the days from 1970-01-01 to a day of the Gregorian calendar. */
function toDay(year: number, month: number, day: number): number {
  const past = year - 1
  let days = 365 * past + Math.floor(past / 4) - Math.floor(past / 100) + Math.floor(past / 400) - 719_162
  for (let one = 1; one < month; one++) days += getDaysOfMonth(year, one)
  return days + day - 1
}

/** A date, or a time with a zone. */
interface Moment {
  /** Its first minute. */
  readonly minute: number
  readonly isDate: boolean
}

/** Returns undefined if the text is neither a date nor a time. */
export function parseMoment(text: string): Moment | undefined {
  const parts = MOMENT_PATTERN.exec(text)
  if (!parts) return undefined
  const [year, month, day] = parts.slice(1, 4).map(Number) as [number, number, number]
  if (month < 1 || month > 12 || day < 1 || day > getDaysOfMonth(year, month)) return undefined
  const date = MINUTES_OF_DAY * toDay(year, month, day)
  if (parts[4] === undefined) return { minute: date, isDate: true }
  const [hour, minute, zoneHour, zoneMinute] = [parts[4], parts[5], parts[7] ?? 0, parts[8] ?? 0].map(Number)
  if (hour! > 23 || minute! > 59 || zoneHour! > 23 || zoneMinute! > 59) return undefined
  const zone = (parts[6] === '-' ? -1 : 1) * (60 * zoneHour! + zoneMinute!)
  return { minute: date + 60 * hour! + minute! - zone, isDate: false }
}

export const isDate = (text: string): boolean => parseMoment(text)?.isDate === true

const toText = (value: number, length: number) => String(value).padStart(length, '0')

function formatDate(day: number): string {
  let year = 1970 + Math.floor(day / 365.2425)
  while (toDay(year, 1, 1) > day) year--
  while (toDay(year + 1, 1, 1) <= day) year++
  let month = 1
  while (month < 12 && toDay(year, month + 1, 1) <= day) month++
  return `${toText(year, 4)}-${toText(month, 2)}-${toText(day - toDay(year, month, 1) + 1, 2)}`
}

function formatTime(minute: number): string {
  const day = Math.floor(minute / MINUTES_OF_DAY)
  const rest = minute - day * MINUTES_OF_DAY
  return `${formatDate(day)}T${toText(Math.floor(rest / 60), 2)}:${toText(rest % 60, 2)}Z`
}

/** Returns the first minute of a `from`. */
export const parseFrom = (text: string): number => parseMoment(text)!.minute

/** Returns the first minute after a `to`. */
export function parseTo(text: string): number {
  const { minute, isDate } = parseMoment(text)!
  return isDate ? minute + MINUTES_OF_DAY : minute
}

/** Returns a `from` as clients read it. */
export const formatFrom = (minute: number): string =>
  minute % MINUTES_OF_DAY === 0 ? formatDate(minute / MINUTES_OF_DAY) : formatTime(minute)

/** Returns a `to` as clients read it. */
export const formatTo = (minute: number): string =>
  minute % MINUTES_OF_DAY === 0 ? formatDate(minute / MINUTES_OF_DAY - 1) : formatTime(minute)
