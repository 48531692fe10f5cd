const HOUR = 3_600_000

/** What a chart of growth shows: how far it goes back (ms), and how far its points are apart (s). */
export const RANGES = {
  '24h': { title: '24 hours', length: 24 * HOUR, step: 300 },
  '7d': { title: '7 days', length: 168 * HOUR, step: 3_600 },
  '30d': { title: '30 days', length: 720 * HOUR, step: 14_400 },
} as const

export type Range = keyof typeof RANGES

export const ranges = Object.keys(RANGES) as Range[]

/** The range that an address names, or a week. */
export const rangeOf = (text: string | null): Range => ranges.find((range) => range === text) ?? '7d'

/** A search with other values; empty ones are taken out. */
export function changedSearch(search: string, change: Readonly<Record<string, string>>): string {
  const query = new URLSearchParams(search)
  for (const [name, value] of Object.entries(change)) {
    if (value) query.set(name, value)
    else query.delete(name)
  }
  const text = query.toString()
  return text && `?${text}`
}
