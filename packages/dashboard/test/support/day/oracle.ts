import type { Counts, Statement, Upstream } from './upstream.ts'

/** Numbers are published within this time after YouTube stated them (ms of the monotonic clock). */
const PUBLISHED_WITHIN = 20_000
/** Two processes look at one clock one after the other (ms). */
const CLOCK_SKEW = 100

/** True sums over some videos at a moment. */
export interface TrueSums {
  readonly impressions: number
  readonly engagements: number
  /** Videos whose likes the newest reply does not state. */
  readonly hidden: readonly string[]
  /** Videos that the newest reply omits, although an earlier one stated numbers. */
  readonly omitted: readonly string[]
}

/** Knows which numbers may be shown, independently of stats: from what YouTube stated, and from the true counts. */
export class Oracle {
  readonly #upstream: Upstream

  constructor(upstream: Upstream) {
    this.#upstream = upstream
  }

  /** The first statement about one of the videos at this time or after it. */
  statementAt(ids: readonly string[], at: number): Statement | undefined {
    return this.#upstream.statements.find(
      (one) => one.at >= at - CLOCK_SKEW && ids.some((id) => one.videos.get(id) !== undefined),
    )
  }

  /**
   * All sums that are true for numbers of this time.
   * @param asOf ms since 1970
   * @param delay until when they are published (ms of the monotonic clock)
   */
  sumsAsOf(ids: readonly string[], asOf: number, delay = PUBLISHED_WITHIN): readonly TrueSums[] {
    const first = this.statementAt(ids, asOf)
    const found: TrueSums[] = []
    if (!first) return found
    const known = new Map<string, KnownCounts>()
    for (const statement of this.#upstream.statements) {
      if (statement.steady > first.steady + delay) break
      for (const [id, counts] of statement.videos) known.set(id, learn(known.get(id), counts))
      if (statement.steady >= first.steady) found.push(sumOf(ids, known))
    }
    return found
  }

  /** All that was stated of a video since some time before this one. @param asOf ms since 1970 @param leeway ms of the monotonic clock */
  statedSince(id: string, asOf: number, leeway: number): readonly Counts[] {
    const first = this.statementAt([id], asOf)
    return this.#upstream.statements.flatMap(({ steady, videos }) => {
      const counts = videos.get(id)
      return first && counts && steady >= first.steady - leeway ? [counts] : []
    })
  }

  /** How much the views of these videos truly grew. Times in ms since 1970. */
  growth(ids: readonly string[], from: number, to: number): number {
    const viewsAt = (at: number) => ids.reduce((sum, id) => sum + this.#upstream.truth(id, at).views, 0)
    return viewsAt(to) - viewsAt(from)
  }
}

interface KnownCounts extends Counts {
  readonly isHidden: boolean
  readonly isOmitted: boolean
}

/** A count that is not stated stays as it was last known. */
function learn(last: KnownCounts | undefined, counts: Counts | undefined): KnownCounts {
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
