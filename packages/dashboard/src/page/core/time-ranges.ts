import { text } from '../texts/texts.ts'

const HOUR_MS = 3_600_000

/** The time ranges of a growth chart: length (ms), and time between two points (s). `within` is `in 7 days`. */
export const TIME_RANGES = {
  '24h': { title: text('range.24h'), within: text('within.24h'), length: 24 * HOUR_MS, step: 300 },
  '7d': { title: text('range.7d'), within: text('within.7d'), length: 168 * HOUR_MS, step: 3_600 },
  '30d': { title: text('range.30d'), within: text('within.30d'), length: 720 * HOUR_MS, step: 14_400 },
} as const

export type TimeRange = keyof typeof TIME_RANGES

export const timeRangeNames = Object.keys(TIME_RANGES) as TimeRange[]

/** The range in an address. A week by default. */
export const parseTimeRange = (text: string | null): TimeRange => timeRangeNames.find((range) => range === text) ?? '7d'

/** The time that the screen of a campaign shows: a window up to now, the dates of the campaign, or other days. */
export type Period =
  | { readonly kind: 'window'; readonly range: TimeRange }
  | { readonly kind: 'dates' }
  | { readonly kind: 'days'; readonly from: string; readonly to: string }

const DAY_PATTERN = /^\d{4}-\d{2}-\d{2}$/

/** The period in an address. By default the dates of the campaign, or a week if it has none. */
export function parsePeriod(query: URLSearchParams, hasDates: boolean): Period {
  const [range, from = '', to = ''] = [query.get('range'), query.get('from') ?? '', query.get('to') ?? '']
  if (range === 'days' && DAY_PATTERN.test(from) && DAY_PATTERN.test(to)) return { kind: 'days', from, to }
  if (hasDates && (range === null || range === 'dates')) return { kind: 'dates' }
  return { kind: 'window', range: parseTimeRange(range) }
}

/** Time between two points of a chart (s), or a day, such that it has at most some hundred points. @param length ms */
export function toStep(length: number): number | 'day' {
  if (length <= 48 * HOUR_MS) return 300
  if (length <= 14 * 24 * HOUR_MS) return 3_600
  return length <= 60 * 24 * HOUR_MS ? 14_400 : 'day'
}

/** Returns a query string with changed values. Empty values are removed. */
export function updateSearch(search: string, change: Readonly<Record<string, string>>): string {
  const query = new URLSearchParams(search)
  for (const [name, value] of Object.entries(change)) {
    if (value) query.set(name, value)
    else query.delete(name)
  }
  const changed = query.toString()
  return changed && `?${changed}`
}
