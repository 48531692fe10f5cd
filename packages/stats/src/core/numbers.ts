/** What YouTube counts for one video. `dislikes` only where the API still gives them. */
export interface VideoNumbers {
  readonly id: string
  readonly views: number
  readonly likes: number
  readonly comments: number
  readonly dislikes?: number
  /** Where YouTube has stopped to give any: these are the last. */
  readonly gone?: Gone
}

/** A video that was there and is not any more: removed, or private (ms since the epoch). */
export interface Gone {
  /** When YouTube was first asked for it in vain. */
  readonly since: number
  /** When it was last asked for these numbers, or earlier. */
  readonly asOf: number
}

/** The last numbers of a video that is gone. @param asOf when they were true */
export const asGone = (last: VideoNumbers, since: number, asOf: number): VideoNumbers =>
  last.gone ? last : { ...last, gone: { since, asOf } }

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
}

/** From when on the sums are these (ms since the epoch). */
export const sinceOf = ({ since, asOf }: Snapshot): number => since ?? asOf

/** The sums over a collection. */
export interface Totals {
  readonly impressions: number
  readonly engagements: number
  readonly score: number
  /** How many videos were summed. */
  readonly videos: number
}

/** impressions = views; engagements = likes + comments + dislikes; score = engagements + likes. */
export function sum(videos: readonly VideoNumbers[]): Totals {
  let impressions = 0
  let engagements = 0
  let score = 0
  for (const { views, likes, comments, dislikes = 0 } of videos) {
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
 * Numbers that only the second has of what the first misses are those of a video that is gone.
 */
export function combine(ids: readonly string[], now: Snapshot, before: Snapshot | undefined): Snapshot | undefined {
  const known = new Map<string, { numbers?: VideoNumbers; by: Snapshot }>()
  for (const by of before ? [before, now] : [now]) {
    for (const numbers of by.videos) known.set(numbers.id, { numbers, by })
    for (const id of by.missing) {
      const last = known.get(id)
      const numbers = last?.numbers && asGone(last.numbers, by.asOf, last.by.asOf)
      known.set(id, { ...(numbers && { numbers }), by })
    }
  }
  const [videos, missing, unknown, times] = [[] as VideoNumbers[], [] as string[], [] as string[], new Set<number>()]
  for (const id of ids) {
    const one = known.get(id)
    if (!one) unknown.push(id)
    else if (one.numbers) videos.push(one.numbers)
    else missing.push(id)
    if (one) times.add(one.by.asOf)
  }
  if (unknown.length > 0 && unknown.length === ids.length) return undefined
  const asOf = ids.length > 0 ? Math.min(...times) : now.asOf
  const since = Math.max(asOf, ...times)
  return { videos, missing, ...(unknown.length > 0 && { unknown }), asOf, ...(since > asOf && { since }) }
}

export function sameTotals(a: Totals, b: Totals): boolean {
  return (
    a.impressions === b.impressions && a.engagements === b.engagements && a.score === b.score && a.videos === b.videos
  )
}
