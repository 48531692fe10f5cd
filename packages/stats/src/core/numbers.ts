/** What YouTube counts for one video. `dislikes` only where the API still gives them. */
export interface VideoNumbers {
  readonly id: string
  readonly views: number
  readonly likes: number
  readonly comments: number
  readonly dislikes?: number
}

/** The numbers of a collection's videos at one time. */
export interface Snapshot {
  readonly videos: readonly VideoNumbers[]
  /** Videos that YouTube did not return: removed, private, or never there. */
  readonly missing: readonly string[]
  /** When YouTube was asked (ms since the epoch). */
  readonly asOf: number
}

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

/** The part of a snapshot that speaks of `ids`; nothing if it does not know all of them. */
export function restrict(snapshot: Snapshot, ids: readonly string[]): Snapshot | undefined {
  const known = new Set([...snapshot.videos.map(({ id }) => id), ...snapshot.missing])
  return ids.every((id) => known.has(id)) ? toSnapshot(ids, snapshot.videos, snapshot.asOf) : undefined
}

export function sameTotals(a: Totals, b: Totals): boolean {
  return (
    a.impressions === b.impressions && a.engagements === b.engagements && a.score === b.score && a.videos === b.videos
  )
}
