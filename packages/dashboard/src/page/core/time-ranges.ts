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
