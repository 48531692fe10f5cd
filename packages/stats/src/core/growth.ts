import { diffEdits, removeEdits } from './edits.ts'
import type { Point } from './history-points.ts'
import { toIsoTime } from './iso-time.ts'
import type { Edits, Totals } from './video-numbers.ts'
import { DAY_MS } from './quota-budget.ts'

/** Windows over which growth is reported (ms). */
export const PERIODS_MS = { '24h': DAY_MS, '7d': 7 * DAY_MS, '30d': 30 * DAY_MS } as const

export type Period = keyof typeof PERIODS_MS

export const periods = Object.keys(PERIODS_MS) as Period[]

/**
 * Growth of sums within a window. Edits (`added`, `removed`) are stated separately and are not part of the growth. Times
 * are ISO 8601 texts, as in replies.
 */
export interface Growth extends Pick<Totals, 'impressions' | 'engagements' | 'score'>, Edits {
  /** Beginning of the window, or a later time if the sums at its beginning are unknown. */
  readonly since: string
  /** End of the window: the last time at which the sums were confirmed. */
  readonly until: string
  /** Present if the growth covers the whole window. */
  readonly isWhole?: true
  /** Present if the collection was created within the window. */
  readonly young?: true
}

export type GrowthByPeriod = Readonly<Record<Period, Growth>>

/** The sums at the end of a window. */
export interface GrowthEnd {
  readonly point: Point
  /** Last time at which the sums were confirmed (ms since the epoch). */
  readonly until: number
}

/** The points of a history around the beginning of a window. */
export interface PointsAround {
  /** Last point at or before the beginning. */
  readonly before?: Point | undefined
  /** First point after the beginning, up to the end of the window. */
  readonly next?: Point | undefined
}

/**
 * Maximum share of the window between the last confirmation of one point and the time of the next: a longer gap is not
 * interpolated. Also the share by which a point's numbers may be older than those at the end of the window.
 */
const MAX_GAP_RATIO = 1 / 12

/** Returns the age of the oldest numbers of a point at its time (ms). */
export const getAge = ({ at, asOf = at }: Point): number => at - asOf

/**
 * True if a point's numbers are current enough to compare: at the point's time they are at most `MAX_GAP_RATIO` of the
 * window older than the numbers at the end of the window are at their time.
 */
export const isUsable = (point: Point, period: Period, end: GrowthEnd): boolean =>
  getAge(point) <= PERIODS_MS[period] * MAX_GAP_RATIO + getAge(end.point)

/** Returns the point at which a window begins, stored or interpolated; undefined if the sums are unknown. */
export function interpolateStart(period: Period, end: GrowthEnd, { before, next }: PointsAround): Point | undefined {
  const start = end.until - PERIODS_MS[period]
  if (!before || !isUsable(before, period, end)) return undefined
  if (!next) return { ...before, at: start }
  const confirmed = getConfirmedUntil(before, next)
  if (start <= confirmed) return { ...before, at: start }
  const gap = next.at - confirmed
  if (gap > PERIODS_MS[period] * MAX_GAP_RATIO || !isUsable(next, period, end)) return undefined
  return interpolatePoint(before, next, confirmed, start)
}

/** Returns the last time at which the sums of a point were confirmed (ms). @param next the point after it */
export function getConfirmedUntil(before: Point, next: Point): number {
  // `next.before` describes the point directly before `next` when `next` was stored. If this point is not `before`, it
  // was pruned, and the sums of `before` are certain only at the time of `before`.
  const [previous, until] = next.before ?? []
  return previous === before.at ? Math.max(previous, until!) : before.at
}

/**
 * Returns the sums at a time between two points, without the effect of edits between them.
 * @param confirmed last time at which the sums of `before` were confirmed (ms), before `at`
 */
export function interpolatePoint(before: Point, next: Point, confirmed: number, at: number): Point {
  const [from, to] = [removeEdits(before), removeEdits(next)]
  const between = (name: 'impressions' | 'engagements' | 'score') =>
    before[name] + Math.round(((to[name] - from[name]) * (at - confirmed)) / (next.at - confirmed))
  return {
    ...before,
    at,
    impressions: between('impressions'),
    engagements: between('engagements'),
    score: between('score'),
  }
}

/**
 * Returns the growth from a base point to the end of a window.
 * @param base the point at which the window begins, or the first usable one after it
 * @param createdAt time at which the collection was created (ms since the epoch)
 */
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
