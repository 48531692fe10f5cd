import type { Point } from './history.ts'
import type { Totals } from './numbers.ts'
import { DAY } from './pace.ts'

/** What sums are compared over (ms). */
export const PERIODS = { '24h': DAY, '7d': 7 * DAY, '30d': 30 * DAY } as const

export type Period = keyof typeof PERIODS

export const periods = Object.keys(PERIODS) as Period[]

/** By how much sums have grown since a point of their history. */
export interface Growth extends Pick<Totals, 'impressions' | 'engagements' | 'score'> {
  /** When that point is from: where the history does not go back so far, the first there is. */
  readonly since: string
}

export type Change = Readonly<Record<Period, Growth>>

/** The points that sums are compared with. */
export type Bases = Readonly<Record<Period, Point>>

export function changeSince(bases: Bases, now: Totals): Change {
  const growths = periods.map((period): [Period, Growth] => {
    const { at, impressions, engagements, score } = bases[period]
    const growth = {
      impressions: now.impressions - impressions,
      engagements: now.engagements - engagements,
      score: now.score - score,
      since: new Date(at).toISOString(),
    }
    return [period, growth]
  })
  return Object.fromEntries(growths) as Change
}
