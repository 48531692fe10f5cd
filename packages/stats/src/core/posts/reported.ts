import { toIsoTime } from '../iso-time.ts'
import type { LastCounts, Post, PostCounts, PostNumbers } from './post.ts'

/** Sums of the reported numbers of a collection's posts. A sum is absent if no post has one of its counts. */
export interface ReportedSums {
  /** Views. */
  readonly impressions?: number
  /** Likes, comments and shares. */
  readonly engagements?: number
  readonly saves?: number
  /** Number of posts. */
  readonly posts: number
}

export interface Reported extends ReportedSums {
  /** Time of the oldest of the posts' newest reports. Absent without numbers. */
  readonly asOf?: string
}

/** Adds the known values. Returns undefined if no value is known. */
function addKnown(values: readonly (number | undefined)[]): number | undefined {
  const known = values.filter((value) => value !== undefined)
  return known.length > 0 ? known.reduce((sum, value) => sum + value, 0) : undefined
}

export function sumCounts(counts: readonly PostCounts[], posts: number): ReportedSums {
  const impressions = addKnown(counts.map(({ views }) => views))
  const engagements = addKnown(counts.flatMap(({ likes, comments, shares }) => [likes, comments, shares]))
  const saves = addKnown(counts.map((one) => one.saves))
  return {
    ...(impressions !== undefined && { impressions }),
    ...(engagements !== undefined && { engagements }),
    ...(saves !== undefined && { saves }),
    posts,
  }
}

/** Returns the sums of posts; undefined without posts. */
export function sumPosts(posts: readonly Pick<Post, 'last'>[]): Reported | undefined {
  if (posts.length === 0) return undefined
  const last = posts.flatMap((post) => post.last ?? [])
  const sums = sumCounts(last, posts.length)
  return last.length > 0 ? { ...sums, asOf: toIsoTime(Math.min(...last.map(({ at }: LastCounts) => at))) } : sums
}

/** Sums from a time until the next point. */
export interface ReportedPoint extends ReportedSums {
  /** ms since 1970 */
  readonly at: number
}

export interface ReportedRange {
  /** Only points from this time, and the last one before (ms since 1970). */
  readonly from: number
  readonly to: number
  /** Length of a step (ms); the last point of each step counts. */
  readonly step?: number | undefined
}

/**
 * Returns the sums over time. A post counts from its first report; from then on each count has its last reported value.
 * @param numbers those of each post
 */
export function toReportedPoints(
  numbers: ReadonlyMap<string, readonly PostNumbers[]>,
  { from, to, step }: ReportedRange,
): ReportedPoint[] {
  const all = [...numbers].flatMap(([post, points]) => points.map((point) => ({ post, point })))
  all.sort((a, b) => a.point.at - b.point.at)
  const current = new Map<string, PostCounts>()
  const points: ReportedPoint[] = []
  for (const [i, { post, point }] of all.entries()) {
    if (point.at > to) break
    current.set(post, { ...current.get(post), ...point })
    const next = all[i + 1]?.point.at
    // The sums are needed only at the end of a step.
    if (next !== undefined && next <= to && isSameStep(point.at, next, from, step)) continue
    points.push({ at: point.at, ...sumCounts([...current.values()], current.size) })
  }
  return points
}

/** True if only the later of two times counts: in one step, or both before the range. */
const isSameStep = (at: number, next: number, from: number, step = 1): boolean =>
  next < from || (at >= from && Math.floor(at / step) === Math.floor(next / step))

/** Returns the sums of videos and posts, from which the cost of a view is computed: the cost is that of both. */
export const addReported = (
  { impressions, engagements }: { readonly impressions: number; readonly engagements: number },
  reported: ReportedSums | undefined,
) => ({
  impressions: impressions + (reported?.impressions ?? 0),
  engagements: engagements + (reported?.engagements ?? 0),
})
