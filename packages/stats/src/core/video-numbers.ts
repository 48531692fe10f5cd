export const COUNT_NAMES = ['views', 'likes', 'comments', 'dislikes'] as const
export type CountName = (typeof COUNT_NAMES)[number]

/** The counts of one video. An absent count was never known; that of `dislikes` is absent nearly always. */
export interface VideoNumbers {
  readonly id: string
  readonly views?: number
  readonly likes?: number
  readonly comments?: number
  readonly dislikes?: number
  /** Counts that YouTube does not state, because the owner hides them: these are the last known ones, if any. */
  readonly hidden?: readonly CountName[]
  /** Since when there are such counts (ms since the epoch). */
  readonly hiddenSince?: number
  /** When YouTube omitted the video for the first time (ms since the epoch): the second omission confirms that it is gone. */
  readonly omitted?: number
  /** Where YouTube has stopped to give any: these are the last. */
  readonly gone?: VideoRemoval
}

/** A video that was there and is not any more: removed, or private (ms since the epoch). */
export interface VideoRemoval {
  /** When YouTube was first asked for it in vain. */
  readonly since: number
  /** When it was last asked for these numbers, or earlier. */
  readonly asOf: number
}

/** Numbers of a video, if YouTube ever stated any, and when they were true (ms since the epoch). */
export interface KnownVideo {
  readonly numbers?: VideoNumbers | undefined
  readonly asOf: number
}

/**
 * The knowledge of a video after a response. Without numbers in `now` the response omits the video: it is gone once it was
 * omitted twice, at least an interval apart, and until then its numbers become older.
 * @param interval between two refreshes (ms)
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
  // Both times are whole milliseconds.
  if (now.asOf - numbers.omitted + 1 < interval) return last
  const { omitted: since, ...rest } = numbers
  return { ...now, numbers: { ...rest, gone: { since, asOf: last.asOf } } }
}

const hasCounts = (numbers: VideoNumbers): boolean => COUNT_NAMES.some((count) => numbers[count] !== undefined)

/** Whether every count is stated. */
export const hasAllCounts = (numbers: VideoNumbers): boolean =>
  COUNT_NAMES.every((count) => numbers[count] !== undefined)

/** Adds the last known values of the counts that are not stated. Dislikes, which few videos have, are hidden only after they were known. */
function withHidden(now: VideoNumbers, last: VideoNumbers | undefined, asOf: number): VideoNumbers {
  // Data of earlier versions have 0 for what was not stated; an unknown count adds as much to a sum.
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
  /** Videos of which YouTube has never given numbers, and does not. */
  readonly missing: readonly string[]
  /** Videos that could not be asked for yet: nothing is known of them. */
  readonly unknown?: readonly string[]
  /** When YouTube was asked for the oldest of the numbers (ms since the epoch). */
  readonly asOf: number
  /** From when on these are the sums, if not from then on: the newest of the numbers, or a change of the collection. */
  readonly since?: number
  /** The last point of the history: its time, and the edits up to then. Of stored snapshots. */
  readonly point?: { readonly at: number } & Edits
}

/** From when on the sums are these (ms since the epoch). */
export const getSince = ({ since, asOf }: Snapshot): number => since ?? asOf

/** The sums over a collection. */
export interface Totals {
  readonly impressions: number
  readonly engagements: number
  readonly score: number
  /** How many videos were summed. */
  readonly videos: number
}

/** The sums that have come and gone since the history of a collection began, and not by growth. */
export interface Edits {
  /** Of videos that were added, or whose first numbers came. */
  readonly added?: Totals | undefined
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

/** Puts what YouTube returned in the order of the collection, and names what it did not return. */
export function toSnapshot(ids: readonly string[], found: readonly VideoNumbers[], asOf: number): Snapshot {
  const byId = new Map(found.map((video) => [video.id, video]))
  return {
    videos: ids.flatMap((id) => byId.get(id) ?? []),
    missing: ids.filter((id) => !byId.has(id)),
    asOf,
  }
}

/**
 * What is known of `ids` by two snapshots, by the first rather than by the second; nothing if neither knows any of them.
 * @param interval between two refreshes (ms): see `updateVideo`
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
  const [videos, missing, unknown, times] = [[] as VideoNumbers[], [] as string[], [] as string[], new Set<number>()]
  for (const id of ids) {
    const one = known.get(id)
    if (!one) unknown.push(id)
    else if (one.numbers) videos.push(one.numbers)
    else missing.push(id)
    if (one) times.add(one.asOf)
  }
  if (unknown.length > 0 && unknown.length === ids.length) return undefined
  const asOf = ids.length > 0 ? Math.min(...times) : now.asOf
  const since = Math.max(asOf, ...times)
  return { videos, missing, ...(unknown.length > 0 && { unknown }), asOf, ...(since > asOf && { since }) }
}

export function hasSameTotals(a: Totals, b: Totals): boolean {
  return (
    a.impressions === b.impressions && a.engagements === b.engagements && a.score === b.score && a.videos === b.videos
  )
}
