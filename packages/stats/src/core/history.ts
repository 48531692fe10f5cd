import type { Totals } from './numbers.ts'
import { DAY } from './pace.ts'

/** A collection's sums from `at` (ms since the epoch) on, until the next point. */
export interface Point extends Totals {
  readonly at: number
}

const HOUR = 3_600_000

/** Adds a point in its place, mostly the last; it replaces one of the same time. Changes `points` if it can. */
export function withPoint(points: Point[], point: Point): Point[] {
  const last = points.at(-1)
  if (!last || last.at < point.at) {
    points.push(point)
    return points
  }
  return [...points.filter(({ at }) => at !== point.at), point].toSorted((a, b) => a.at - b.at)
}

/**
 * Which points to forget: all older than `retention` ms, and of those older than a day all but the last of each hour.
 * @param points in ascending order of `at`
 */
export function superfluous(points: readonly Point[], now: number, retention: number): number[] {
  return points.flatMap(({ at }, i) => {
    if (at < now - retention) return [at]
    if (at >= now - DAY) return []
    const next = points[i + 1]
    const lastOfItsHour = !next || Math.floor(next.at / HOUR) !== Math.floor(at / HOUR)
    return lastOfItsHour ? [] : [at]
  })
}

/** At most one point, the last, for each `step` ms. @param points in ascending order of `at` */
export function everyStep(points: readonly Point[], step: number): Point[] {
  return points.filter(({ at }, i) => {
    const next = points[i + 1]
    return !next || Math.floor(next.at / step) !== Math.floor(at / step)
  })
}
