import type { Edits, Totals } from './video-numbers.ts'
import { DAY_MS } from './quota-budget.ts'

/**
 * A point of the history of a collection or of a video: the sums from `at` (ms since the epoch) until the next point, and
 * all edits from the beginning of the history to `at`.
 */
export interface Point extends Totals, Edits {
  readonly at: number
  /** Request time of the oldest of the numbers, if it is earlier than `at`. */
  readonly asOf?: number
  /**
   * Time of the previous point, and the last time at which its sums were confirmed. Absent for the first point, for points
   * of videos, and for points of version 0.2.
   */
  readonly before?: readonly [at: number, until: number]
}

const HOUR_MS = 3_600_000

/**
 * Inserts a point in the order of time, in place of a point of the same time, and returns the points. The result is
 * `points` itself if the new point is later than all others, which is the usual case; otherwise it is a copy.
 */
export function withPoint(points: Point[], point: Point): Point[] {
  const last = points.at(-1)
  if (!last || last.at < point.at) {
    points.push(point)
    return points
  }
  return [...points.filter(({ at }) => at !== point.at), point].toSorted((a, b) => a.at - b.at)
}

/** After a longer gap (ms) the first point of an hour also remains, because it marks the end of the gap. */
const MAX_GAP_MS = HOUR_MS

export const toHour = (time: number) => Math.floor(time / HOUR_MS)

/**
 * Returns the times of the points to delete: all older than `retention` ms. Of those older than a day, the last of each
 * hour remains, and the first of an hour after a gap.
 * @param points in ascending order of `at`
 * @param retainedAt time of the last earlier point that remains
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

/**
 * Returns at most one point, the last, per `step` ms.
 * @param points in ascending order of `at`
 */
export function selectEveryStep(points: readonly Point[], step: number): Point[] {
  return points.filter(({ at }, i) => {
    const next = points[i + 1]
    return !next || Math.floor(next.at / step) !== Math.floor(at / step)
  })
}
