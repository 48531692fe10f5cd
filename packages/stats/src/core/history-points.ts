import type { Edits, Totals } from './video-numbers.ts'
import type { RetentionTiers } from './history/retention-tiers.ts'
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

export const toHour = (time: number) => Math.floor(time / HOUR_MS)

/**
 * Returns the times of the points to delete: all older than `tiers.daily`. Of those older than a day the last of each hour
 * remains, and of those older than `tiers.hourly` the last of each day in UTC. After a gap that is longer than this hour or
 * day its first point remains too, because it marks the end of the gap.
 * @param points in ascending order of `at`
 * @param retainedAt time of the last earlier point that remains
 */
export function findPointsToPrune(
  points: readonly Pick<Point, 'at'>[],
  now: number,
  tiers: RetentionTiers,
  retainedAt = -Infinity,
): number[] {
  const isRetained = (at: number, i: number) => {
    if (at < now - tiers.daily) return false
    if (at >= now - DAY_MS) return true
    const length = at < now - tiers.hourly ? DAY_MS : HOUR_MS
    const isOther = (point: Pick<Point, 'at'> | undefined) =>
      !point || Math.floor(point.at / length) !== Math.floor(at / length)
    return isOther(points[i + 1]) || (isOther(points[i - 1]) && at - retainedAt > length)
  }
  return points.flatMap(({ at }, i) => {
    if (!isRetained(at, i)) return [at]
    retainedAt = at
    return []
  })
}

/**
 * Returns at most one point, the last, per step.
 * @param points in ascending order of `at`
 * @param toStep returns the step of a time (ms)
 */
export function selectEveryStep(points: readonly Point[], toStep: (at: number) => number | string): Point[] {
  const steps = points.map(({ at }) => toStep(at))
  return points.filter((_, i) => i === points.length - 1 || steps[i + 1] !== steps[i])
}
