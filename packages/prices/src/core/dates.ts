const DAY_MS = 86_400_000
const DATE_PATTERN = /^\d{4}-\d\d-\d\d$/

/** Limits for a missing date: before every day, and after every day. */
export const FIRST_DAY = -0x8000_0000
export const LAST_DAY = 0x7fff_ffff

/** True if a text is a calendar day, YYYY-MM-DD. */
export function isDate(text: string): boolean {
  if (!DATE_PATTERN.test(text)) return false
  const time = Date.parse(text)
  // Some engines parse 2026-02-30 as 2 March, others refuse it.
  return !Number.isNaN(time) && new Date(time).toISOString().startsWith(text)
}

/** Returns the days since 1970 of a date that `isDate` accepts. */
export const toDay = (date: string): number => Date.parse(date) / DAY_MS

export const toDate = (day: number): string => new Date(day * DAY_MS).toISOString().slice(0, 10)
