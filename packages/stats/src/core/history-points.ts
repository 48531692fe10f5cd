import type { Edits, Totals } from './video-numbers.ts'
import { DAY_MS } from './quota-budget.ts'

/** A collection's sums from `at` (ms since the epoch) on, until the next point; and the edits up to then. */
export interface Point extends Totals, Edits {
  readonly at: number
  /** When YouTube was asked for the oldest of the numbers, if that was earlier. */
  readonly asOf?: number
  /** The time of the point before, and when its sums were confirmed last. Points of version 0.2 have none. */
  readonly before?: readonly [at: number, until: number]
}

const HOUR_MS = 3_600_000

/** Adds a point in its place, mostly the last; it replaces one of the same time. Changes `points` if it can. */
export function withPoint(points: Point[], point: Point): Point[] {
  const last = points.at(-1)
  if (!last || last.at < point.at) {
    points.push(point)
    return points
  }
  return [...points.filter(({ at }) => at !== point.at), point].toSorted((a, b) => a.at - b.at)
}

/** After a longer gap (ms) the first point of an hour remains, too: it says where the gap ends. */
const MAX_GAP_MS = HOUR_MS

const toHour = (time: number) => Math.floor(time / HOUR_MS)

/**
 * Which points to forget: all older than `retention` ms, and of those older than a day all but the last of each hour, and
 * the first of an hour after a gap.
 * @param points in ascending order of `at`
 * @param retainedAt time of the last point before them that remains
 */
export function findPointsToPrune(
  points: readonly Point[],
  now: number,
  retention: number,
  retainedAt = -Infinity,
): number[] {
  return points.flatMap(({ at }, i) => {
    if (at < now - retention) return [at]
    const [previous, next] = [points[i - 1], points[i + 1]]
    const isLast = !next || toHour(next.at) !== toHour(at)
    const isFirst = !previous || toHour(previous.at) !== toHour(at)
    if (at < now - DAY_MS && !isLast && !(isFirst && at - retainedAt > MAX_GAP_MS)) return [at]
    retainedAt = at
    return []
  })
}

/** At most one point, the last, for each `step` ms. @param points in ascending order of `at` */
export function selectEveryStep(points: readonly Point[], step: number): Point[] {
  return points.filter(({ at }, i) => {
    const next = points[i + 1]
    return !next || Math.floor(next.at / step) !== Math.floor(at / step)
  })
}
