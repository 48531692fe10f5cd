import type { StatedCounts, Statement, FakeUpstream } from './fake-upstream.ts'

/** A time in a reply has whole milliseconds. */
const CLOCK_RESOLUTION_MS = 1
/**
 * Sums of one time contain numbers of this many later replies at most. Some videos of a campaign are requested half an
 * interval after the others, and an omitted video has the time of its last numbers until the second omission.
 */
const MAX_NEWER_REPLIES = 3

/** True sums over some videos at a moment. */
export interface TrueSums {
  readonly impressions: number
  readonly engagements: number
  /** Videos whose likes the newest reply does not state. */
  readonly hidden: readonly string[]
  /** Videos that the newest reply omits, although an earlier one stated numbers. */
  readonly omitted: readonly string[]
}

/** Computes the numbers that pages may show, independently of stats: from the replies of YouTube and the true counts. */
export class Oracle {
  readonly #upstream: FakeUpstream

  constructor(upstream: FakeUpstream) {
    this.#upstream = upstream
  }

  /** The first statement about one of the videos at this time or after it. */
  statementAt(ids: readonly string[], at: number): Statement | undefined {
    const earliest = at - CLOCK_RESOLUTION_MS
    return this.#upstream.statements.find((one) => one.at >= earliest && ids.some((id) => one.videos.get(id)))
  }

  /** The next statement about one of the videos. */
  statementAfter(ids: readonly string[], { at }: Statement): Statement | undefined {
    return this.#upstream.statements.find((one) => one.at > at && ids.some((id) => one.videos.get(id)))
  }

  /** The last statement about one of the videos that is older than this one by `ownMs` (own time of the test). */
  statementBefore(ids: readonly string[], { ownAt }: Pick<Statement, 'ownAt'>, ownMs: number): Statement | undefined {
    return this.#upstream.statements.findLast(
      (one) => one.ownAt < ownAt - ownMs && ids.some((id) => one.videos.get(id)),
    )
  }

  /** All sums that are true for numbers of this time. @param asOf ms since 1970 */
  sumsAsOf(ids: readonly string[], asOf: number): readonly TrueSums[] {
    const first = this.statementAt(ids, asOf)
    return this.#known(ids, first, 1 + MAX_NEWER_REPLIES).map((known) => sumOf(ids, known))
  }

  /**
   * All sums that are true for old numbers of this time: an outage or a restart may leave some videos with the numbers of
   * this time and the others with those of one later time.
   */
  oldSumsAsOf(ids: readonly string[], asOf: number): readonly TrueSums[] {
    const [first, ...later] = this.#known(ids, this.statementAt(ids, asOf))
    if (!first) return []
    return later.flatMap((known) =>
      subsetsOf(ids).map((old) =>
        sumOf(
          ids,
          new Map(
            ids.flatMap((id) => {
              const counts = (old.has(id) ? first : known).get(id)
              return counts ? [[id, counts] as const] : []
            }),
          ),
        ),
      ),
    )
  }

  /** The counts known after `first` and after each later statement about one of the videos. */
  #known(ids: readonly string[], first: Statement | undefined, limit = Infinity): ReadonlyMap<string, KnownCounts>[] {
    if (!first) return []
    const known = new Map<string, KnownCounts>()
    const found: ReadonlyMap<string, KnownCounts>[] = []
    let isReached = false
    for (const statement of this.#upstream.statements) {
      isReached ||= statement === first
      if (!ids.some((id) => statement.videos.has(id))) continue
      for (const [id, counts] of statement.videos) known.set(id, learn(known.get(id), counts))
      if (isReached) found.push(new Map(known))
      if (found.length === limit) break
    }
    return found
  }

  /**
   * All counts of a video that YouTube stated from `leeway` before the first statement of this time on.
   * @param asOf ms since 1970 @param leeway own time (ms)
   */
  statedSince(id: string, asOf: number, leeway: number): readonly StatedCounts[] {
    const first = this.statementAt([id], asOf)
    return this.#upstream.statements.flatMap(({ ownAt, videos }) => {
      const counts = videos.get(id)
      return first && counts && ownAt >= first.ownAt - leeway ? [counts] : []
    })
  }

  /** The videos that no reply omitted between two times (ms since 1970). */
  statedThroughout(ids: readonly string[], from: number, to: number): readonly string[] {
    const replies = this.#upstream.statements.filter(({ at }) => at >= from && at <= to)
    return ids.filter((id) => !replies.some(({ videos }) => videos.has(id) && !videos.get(id)))
  }

  /** The true growth of the views of these videos. Times in ms since 1970. */
  growth(ids: readonly string[], from: number, to: number): number {
    const viewsAt = (at: number) => ids.reduce((sum, id) => sum + this.#upstream.truth(id, at).views, 0)
    return viewsAt(to) - viewsAt(from)
  }
}

interface KnownCounts extends StatedCounts {
  readonly isHidden: boolean
  readonly isOmitted: boolean
}

function subsetsOf(ids: readonly string[]): ReadonlySet<string>[] {
  return Array.from({ length: 2 ** ids.length }, (_, bits) => new Set(ids.filter((_id, i) => bits & (1 << i))))
}

/** Adds a statement to the known counts. A count that is not stated retains its last known value. */
function learn(last: KnownCounts | undefined, counts: StatedCounts | undefined): KnownCounts {
  if (!counts) return { ...(last ?? { views: 0, comments: 0, isHidden: false }), isOmitted: true }
  const likes = counts.likes ?? last?.likes
  return {
    ...counts,
    ...(likes !== undefined && { likes }),
    isHidden: counts.likes === undefined,
    isOmitted: false,
  }
}

function sumOf(ids: readonly string[], known: ReadonlyMap<string, KnownCounts>): TrueSums {
  const videos = ids.flatMap((id) => (known.has(id) ? [[id, known.get(id)!] as const] : []))
  const idsWhere = (holds: (counts: KnownCounts) => boolean) =>
    videos.filter(([, counts]) => holds(counts)).map(([id]) => id)
  return {
    impressions: videos.reduce((sum, [, { views }]) => sum + views, 0),
    engagements: videos.reduce((sum, [, { likes = 0, comments }]) => sum + likes + comments, 0),
    hidden: idsWhere(({ isHidden }) => isHidden),
    omitted: idsWhere(({ isOmitted }) => isOmitted),
  }
}
