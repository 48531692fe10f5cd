export const COUNT_NAMES = ['views', 'likes', 'comments', 'dislikes'] as const
export type CountName = (typeof COUNT_NAMES)[number]

/** The counts of one video. An absent count was never known; `dislikes` is nearly always absent. */
export interface VideoNumbers {
  readonly id: string
  readonly views?: number
  readonly likes?: number
  readonly comments?: number
  readonly dislikes?: number
  /** Counts that YouTube does not state because the owner hides them. Their values are the last known ones, if any. */
  readonly hidden?: readonly CountName[]
  /** Time since when at least one count is hidden (ms since the epoch). */
  readonly hiddenSince?: number
  /** Time of the first omission by YouTube (ms since the epoch). The second omission confirms the removal. */
  readonly omitted?: number
  /** Present if the video was removed: its counts are the last ones. */
  readonly gone?: VideoRemoval
}

/** A removal: the video was deleted or made private. Times are ms since the epoch. */
export interface VideoRemoval {
  /** Time of the first request that YouTube answered without the video. */
  readonly since: number
  /**
   * Time of the last request that returned these numbers, or an earlier time, because a snapshot stores only the time of
   * its oldest data.
   */
  readonly asOf: number
}

/** The newest data of a video. */
export interface KnownVideo {
  /** Absent if YouTube never stated any. */
  readonly numbers?: VideoNumbers | undefined
  /**
   * Request time of the numbers; for a removed video or one without numbers, time of the last request for it (ms since
   * the epoch).
   */
  readonly asOf: number
}

/**
 * Returns the data of a video after a response. If `now` has no numbers, the response omits the video. The video is
 * removed after two omissions at least an interval apart; until then its numbers grow older.
 * @param interval time between two refreshes (ms)
 */
export function updateVideo<T extends KnownVideo>(last: T | undefined, now: T, interval: number): T {
  if (now.numbers) {
    const numbers = withHidden(now.numbers, last?.numbers, now.asOf)
    return { ...now, numbers: hasCounts(numbers) ? numbers : undefined }
  }
  if (!last?.numbers) return now
  const { numbers } = last
  if (numbers.gone) return { ...now, numbers }
  if (numbers.omitted === undefined) return { ...last, numbers: { ...numbers, omitted: now.asOf } }
  // Both times are rounded to milliseconds, so their difference may be one too small.
  if (now.asOf - numbers.omitted + 1 < interval) return last
  const { omitted: since, ...rest } = numbers
  return { ...now, numbers: { ...rest, gone: { since, asOf: last.asOf } } }
}

const hasCounts = (numbers: VideoNumbers): boolean => COUNT_NAMES.some((count) => numbers[count] !== undefined)

/** True if every count is stated. */
export const hasAllCounts = ({ views, likes, comments, dislikes }: VideoNumbers): boolean =>
  views !== undefined && likes !== undefined && comments !== undefined && dislikes !== undefined

/**
 * Adds the last known values of the counts that are not stated. Few videos have dislikes, so an absent count of
 * dislikes is hidden only if it was known.
 */
function withHidden(now: VideoNumbers, last: VideoNumbers | undefined, asOf: number): VideoNumbers {
  // Earlier versions stored 0 for a count that YouTube did not state, so a last value of 0 counts as unknown. This
  // changes no sum.
  const known = (count: CountName) => now[count] ?? (last?.[count] || undefined)
  const hidden = COUNT_NAMES.filter(
    (count) =>
      now.hidden?.includes(count) || (now[count] === undefined && (count !== 'dislikes' || known(count) !== undefined)),
  )
  if (hidden.length === 0) return now
  const values = hidden.filter((count) => known(count) !== undefined).map((count) => [count, known(count)])
  return {
    ...now,
    ...Object.fromEntries(values),
    hidden,
    hiddenSince: now.hiddenSince ?? last?.hiddenSince ?? asOf,
  }
}

/** The numbers of a collection's videos at one time. */
export interface Snapshot {
  readonly videos: readonly VideoNumbers[]
  /**
   * Videos without numbers: in the snapshot of one response, all that it omits; after `combine`, those for which YouTube
   * never returned any.
   */
  readonly missing: readonly string[]
  /** Videos without data: no request for them has succeeded yet. */
  readonly unknown?: readonly string[]
  /** Request time of the oldest data (ms since the epoch); for a missing video, of the last request for it. */
  readonly asOf: number
  /**
   * Time since when the sums have these values, if it is later than `asOf`: the request time of the newest numbers, or
   * the time of a change of the collection.
   */
  readonly since?: number
  /** Last point of the history: its time, and the edits up to then. Present in stored snapshots. */
  readonly point?: { readonly at: number } & Edits
}

/** Returns the time since when the sums have these values (ms since the epoch). */
export const getSince = ({ since, asOf }: Snapshot): number => since ?? asOf

/** The sums over a collection. */
export interface Totals {
  readonly impressions: number
  readonly engagements: number
  readonly score: number
  /** Number of summed videos. */
  readonly videos: number
}

/** Changes of the sums other than growth, since the history of a collection began. */
export interface Edits {
  /**
   * Sums of videos that were added to the collection, of counts that YouTube states for the first time, and of increases of
   * counts that YouTube states again after more than two hours (see `addEdits`).
   */
  readonly added?: Totals | undefined
  /**
   * Sums of videos that were removed from the collection, and of decreases of counts that YouTube states again after more
   * than two hours.
   */
  readonly removed?: Totals | undefined
}

/** impressions = views; engagements = likes + comments + dislikes; score = engagements + likes. */
export function sum(videos: readonly VideoNumbers[]): Totals {
  let impressions = 0
  let engagements = 0
  let score = 0
  for (const { views = 0, likes = 0, comments = 0, dislikes = 0 } of videos) {
    impressions += views
    engagements += likes + comments + dislikes
    score += likes + comments + dislikes + likes
  }
  return { impressions, engagements, score, videos: videos.length }
}

/** Returns the numbers from a response in the order of the collection; `missing` has the ids that the response omits. */
export function toSnapshot(ids: readonly string[], found: readonly VideoNumbers[], asOf: number): Snapshot {
  if (found.length === ids.length && found.every(({ id }, i) => id === ids[i]))
    return { videos: found, missing: [], asOf }
  const byId = new Map<string, VideoNumbers>()
  for (const video of found) byId.set(video.id, video)
  const videos: VideoNumbers[] = []
  const missing: string[] = []
  for (const id of ids) {
    const video = byId.get(id)
    if (video) videos.push(video)
    else missing.push(id)
  }
  return { videos, missing, asOf }
}

/**
 * Combines two snapshots into the data of `ids`. `now` takes precedence over `before`. Undefined if neither contains
 * any of them.
 * @param interval time between two refreshes (ms): see `updateVideo`
 */
export function combine(
  ids: readonly string[],
  now: Snapshot,
  before: Snapshot | undefined,
  interval: number,
): Snapshot | undefined {
  const known = new Map<string, KnownVideo>()
  for (const { videos, missing, asOf } of before ? [before, now] : [now]) {
    for (const numbers of videos) known.set(numbers.id, updateVideo(known.get(numbers.id), { numbers, asOf }, interval))
    for (const id of missing) known.set(id, updateVideo(known.get(id), { asOf }, interval))
  }
  return collectSnapshot(ids, (id) => known.get(id), now.asOf)
}

/**
 * Returns the data of `ids` as a snapshot; undefined if none of them has any.
 * @param emptyAsOf time of the snapshot without ids (ms since the epoch)
 */
export function collectSnapshot(
  ids: readonly string[],
  find: (id: string) => KnownVideo | undefined,
  emptyAsOf: number,
): Snapshot | undefined {
  const [videos, missing, unknown] = [[] as VideoNumbers[], [] as string[], [] as string[]]
  let [asOf, since] = [Infinity, -Infinity]
  for (const id of ids) {
    const video = find(id)
    if (!video) {
      unknown.push(id)
      continue
    }
    if (video.numbers) videos.push(video.numbers)
    else missing.push(id)
    asOf = Math.min(asOf, video.asOf)
    since = Math.max(since, video.asOf)
  }
  if (ids.length > 0 && unknown.length === ids.length) return undefined
  if (ids.length === 0) asOf = emptyAsOf
  return { videos, missing, ...(unknown.length > 0 && { unknown }), asOf, ...(since > asOf && { since }) }
}

export function hasSameTotals(a: Totals, b: Totals): boolean {
  return (
    a.impressions === b.impressions && a.engagements === b.engagements && a.score === b.score && a.videos === b.videos
  )
}
