const DAY_MS = 86_400_000
const DATE_PATTERN = /^\d{4}-\d\d-\d\d$/

/** No date at all: before every day, and after every day. */
export const FIRST_DAY = -0x8000_0000
export const LAST_DAY = 0x7fff_ffff

/** Whether a text is a day of the calendar, YYYY-MM-DD. */
export function isDate(text: string): boolean {
  if (!DATE_PATTERN.test(text)) return false
  const time = Date.parse(text)
  // 2026-02-30 is read as 2 March by some engines, refused by others.
  return !Number.isNaN(time) && new Date(time).toISOString().startsWith(text)
}

/** Days since 1970 of a date that `isDate` accepts. */
export const toDay = (date: string): number => Date.parse(date) / DAY_MS

export const toDate = (day: number): string => new Date(day * DAY_MS).toISOString().slice(0, 10)
