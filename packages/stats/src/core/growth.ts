import { diffEdits, removeEdits } from './edits.ts'
import type { Point } from './history-points.ts'
import { toIsoTime } from './iso-time.ts'
import type { Edits, Totals } from './video-numbers.ts'
import { DAY_MS } from './quota-budget.ts'

/** Windows over which growth is reported (ms). */
export const PERIODS_MS = { '24h': DAY_MS, '7d': 7 * DAY_MS, '30d': 30 * DAY_MS } as const

export type Period = keyof typeof PERIODS_MS

export const periods = Object.keys(PERIODS_MS) as Period[]

/** By how much sums have grown in a window. Edits are separate from growth. Times as in JSON. */
export interface Growth extends Pick<Totals, 'impressions' | 'engagements' | 'score'>, Edits {
  /** The beginning of the window, or a later time where the sums at its beginning are unknown. */
  readonly since: string
  /** The end of the window: when the sums were confirmed last. */
  readonly until: string
  /** The growth is that of the whole window. */
  readonly isWhole?: true
  /** The collection began within the window. */
  readonly young?: true
}

export type GrowthByPeriod = Readonly<Record<Period, Growth>>

/** The sums at the end of a window. */
export interface GrowthEnd {
  readonly point: Point
  /** When they were confirmed last (ms since the epoch). */
  readonly until: number
}

/** The points of a history around the beginning of a window. */
export interface PointsAround {
  readonly before?: Point | undefined
  /** The next one after it, up to the end of the window. */
  readonly next?: Point | undefined
}

/** Between points that are nearer than this share of the window the sums are interpolated. */
const MAX_GAP_RATIO = 1 / 12

/** How much older than its time the oldest numbers of a point are (ms). */
const getAge = ({ at, asOf = at }: Point) => at - asOf

/** Whether the sums of a point are those of its time, as far as those at the end of the window are. */
export const isUsable = (point: Point, period: Period, end: GrowthEnd): boolean =>
  getAge(point) <= PERIODS_MS[period] * MAX_GAP_RATIO + getAge(end.point)

/** The point that a window begins with: a real one, or one between two; undefined where the sums are unknown. */
export function interpolateStart(period: Period, end: GrowthEnd, { before, next }: PointsAround): Point | undefined {
  const start = end.until - PERIODS_MS[period]
  if (!before || !isUsable(before, period, end)) return undefined
  if (!next) return { ...before, at: start }
  // Points between these two may be pruned.
  const [previous, until] = next.before ?? []
  const confirmed = previous === before.at ? Math.max(previous, until!) : before.at
  if (start <= confirmed) return { ...before, at: start }
  const gap = next.at - confirmed
  if (gap > PERIODS_MS[period] * MAX_GAP_RATIO || !isUsable(next, period, end)) return undefined
  const [from, to] = [removeEdits(before), removeEdits(next)]
  const between = (name: 'impressions' | 'engagements' | 'score') =>
    before[name] + Math.round(((to[name] - from[name]) * (start - confirmed)) / gap)
  return {
    ...before,
    at: start,
    impressions: between('impressions'),
    engagements: between('engagements'),
    score: between('score'),
  }
}

/** @param base the point that the window begins with, or the first usable one after it; @param createdAt ms since the epoch */
export function computeGrowth(period: Period, base: Point, end: GrowthEnd, createdAt: number | undefined): Growth {
  const start = end.until - PERIODS_MS[period]
  const [from, to] = [removeEdits(base), removeEdits(end.point)]
  return {
    impressions: to.impressions - from.impressions,
    engagements: to.engagements - from.engagements,
    score: to.score - from.score,
    since: toIsoTime(base.at),
    until: toIsoTime(end.until),
    ...(base.at === start && { isWhole: true as const }),
    ...(createdAt !== undefined && createdAt > start && { young: true as const }),
    ...diffEdits(end.point, base),
  }
}
