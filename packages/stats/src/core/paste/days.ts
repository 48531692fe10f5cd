/** Order of day and month in dates such as 3/4/2026. */
export type DayOrder = 'day-first' | 'month-first'

const ISO_DAY = /^(\d{4})-(\d{1,2})-(\d{1,2})(?:[T ].{0,32})?$/
const YEAR_FIRST = /^(\d{4})[/.](\d{1,2})[/.](\d{1,2})$/
const GERMAN_DAY = /^(\d{1,2})\. ?(\d{1,2})\. ?(\d{4}|\d{2})$/
const SLASHED_DAY = /^(\d{1,2})[/-](\d{1,2})[/-](\d{4}|\d{2})$/
const NAMED_DAY = /^(\d{1,2})(?:\.|st|nd|rd|th)? ?([\p{L}]{3,9})\.?,? ?(\d{4}|\d{2})$/u
const MONTH_FIRST = /^([\p{L}]{3,9})\.? (\d{1,2})(?:st|nd|rd|th)?,? (\d{4})$/u
const MAX_LENGTH = 48

const MONTHS = ['jan', 'feb', 'mar', 'apr', 'may', 'jun', 'jul', 'aug', 'sep', 'oct', 'nov', 'dec']
/** German names that begin with other letters than the English ones. */
const GERMAN_MONTHS: Readonly<Record<string, number>> = { mär: 3, mrz: 3, mae: 3, mai: 5, okt: 10, dez: 12 }

/** Returns the order of slashed dates that a column of them shows; undefined if all of them have both readings. */
export function findDayOrder(cells: Iterable<string | number | undefined>): DayOrder | undefined {
  for (const cell of cells) {
    const match = typeof cell === 'string' && cell.length <= MAX_LENGTH ? SLASHED_DAY.exec(cell.trim()) : null
    if (match && Number(match[1]) > 12) return 'day-first'
    if (match && Number(match[2]) > 12) return 'month-first'
  }
  return undefined
}

/**
 * Parses a day in an English or German form, or the day of a time. Undefined if there is no such day, or if day and
 * month of a slashed date are not distinguishable.
 * @returns YYYY-MM-DD
 */
export function parseDay(cell: string | number, order?: DayOrder): string | undefined {
  const text = String(cell)
    .replace(/\p{Cf}/gu, '')
    .trim()
  if (text.length > MAX_LENGTH) return undefined
  let match = ISO_DAY.exec(text) ?? YEAR_FIRST.exec(text)
  if (match) return toDay(match[1]!, match[2]!, match[3]!)
  match = GERMAN_DAY.exec(text)
  if (match) return toDay(match[3]!, match[2]!, match[1]!)
  match = NAMED_DAY.exec(text)
  if (match) return toDay(match[3]!, findMonth(match[2]!), match[1]!)
  match = MONTH_FIRST.exec(text)
  if (match) return toDay(match[3]!, findMonth(match[1]!), match[2]!)
  match = SLASHED_DAY.exec(text)
  if (!match) return undefined
  const [, first, second, year] = match as unknown as [string, string, string, string]
  if (first === second || order === 'day-first' || Number(first) > 12) return toDay(year, second, first)
  return order === 'month-first' || Number(second) > 12 ? toDay(year, first, second) : undefined
}

function findMonth(name: string): number {
  const start = name.toLowerCase().slice(0, 3)
  return GERMAN_MONTHS[start] ?? MONTHS.indexOf(start) + 1
}

function toDay(year: string, month: string | number, day: string): string | undefined {
  const text = `${year.length === 2 ? `20${year}` : year}-${String(month).padStart(2, '0')}-${day.padStart(2, '0')}`
  const time = Date.parse(`${text}T00:00:00Z`)
  // Date.parse accepts February 30 in some forms, and gives another day.
  return !Number.isNaN(time) && new Date(time).toISOString().startsWith(text) ? text : undefined
}

/** Parses a time: an ISO time, or a day, which begins at midnight UTC. @returns an ISO time */
export function parseTime(cell: string | number, order?: DayOrder): string | undefined {
  const text = String(cell).trim()
  if (/^\d{4}-\d\d-\d\dT\d\d:\d\d/.test(text) && text.length <= MAX_LENGTH) {
    const time = Date.parse(text)
    return Number.isNaN(time) ? undefined : new Date(time).toISOString()
  }
  const day = parseDay(text, order)
  return day && `${day}T00:00:00.000Z`
}
