const HOUR_MS = 3_600_000

/** The time ranges of a growth chart: length (ms), and time between two points (s). */
export const TIME_RANGES = {
  '24h': { title: '24 hours', length: 24 * HOUR_MS, step: 300 },
  '7d': { title: '7 days', length: 168 * HOUR_MS, step: 3_600 },
  '30d': { title: '30 days', length: 720 * HOUR_MS, step: 14_400 },
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
  const text = query.toString()
  return text && `?${text}`
}
