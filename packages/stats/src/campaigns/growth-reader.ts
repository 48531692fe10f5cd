import { steadyNow } from '@influencer-stats/runtime/steady-clock'
import {
  computeGrowth,
  interpolateStart,
  isUsable,
  PERIODS_MS,
  periods,
  type Growth,
  type GrowthByPeriod,
  type GrowthEnd,
  type Period,
} from '../core/growth.ts'
import type { Point } from '../core/history-points.ts'
import type { KnownSummary } from '../core/prepared-reply.ts'
import { hasSameTotals } from '../core/video-numbers.ts'
import type { Collection, MaybePromise, StatsState } from '../state/stats-state.ts'

/** Interval between two look-ups of growth while the newest numbers are not yet in the history (ms). */
const GROWTH_TTL_MS = 60_000

/** Points per read in the search for a usable point: see `isUsable`. */
const SEARCH_BATCH_SIZE = 100

interface CachedGrowth {
  readonly change: GrowthByPeriod
  /** Time of the look-up (ms of the monotonic clock). */
  readonly at: number
  /** True if the history contains the newest numbers: the growth is then valid until the numbers change. */
  readonly isFinal: boolean
}

/** Computes the growth of collections from their histories. */
export class GrowthReader {
  readonly #history: Pick<StatsState, 'getHistory' | 'getPointAt'>
  /** Cached growth. A change of the collection or of its numbers creates a new key, so an old result is never found. */
  readonly #found = new WeakMap<KnownSummary, CachedGrowth>()
  /** Look-ups in progress, shared by concurrent requests. */
  readonly #finding = new WeakMap<KnownSummary, Promise<GrowthByPeriod | undefined>>()

  constructor(history: Pick<StatsState, 'getHistory' | 'getPointAt'>) {
    this.#history = history
  }

  /** Returns the growth, synchronously if it is cached. Undefined without numbers or without a history. */
  getGrowth({
    collection,
    known,
  }: {
    collection: Collection
    known?: KnownSummary | undefined
  }): MaybePromise<GrowthByPeriod | undefined> {
    if (!known) return undefined
    const last = this.#found.get(known)
    if (last && (last.isFinal || steadyNow() - last.at < GROWTH_TTL_MS)) return last.change
    let finding = this.#finding.get(known)
    if (!finding) {
      finding = this.#find(collection, known).finally(() => this.#finding.delete(known))
      this.#finding.set(known, finding)
    }
    return finding
  }

  async #find({ id, created }: Collection, known: KnownSummary): Promise<GrowthByPeriod | undefined> {
    const point = await this.#history.getPointAt(id, Date.now())
    if (!point) return undefined
    // The history may not contain the newest numbers yet: then growth ends with the last point.
    const isFinal = hasSameTotals(point, known.summary)
    const end: GrowthEnd = { point, until: isFinal ? Math.max(point.at, known.asOf) : point.at }
    const createdAt = created === undefined ? undefined : created / 1_000
    const growths = await Promise.all(
      periods.map(async (period): Promise<[Period, Growth]> => {
        const base = (await this.#getStart(id, period, end)) ?? (await this.#findFirstUsable(id, period, end))
        return [period, computeGrowth(period, base, end, createdAt)]
      }),
    )
    const change = Object.fromEntries(growths) as GrowthByPeriod
    this.#found.set(known, { change, at: steadyNow(), isFinal })
    return change
  }

  /** Returns the point at the beginning of a window; undefined if its sums are unknown. */
  async #getStart(id: string, period: Period, end: GrowthEnd): Promise<Point | undefined> {
    const start = end.until - PERIODS_MS[period]
    if (start >= end.point.at) return interpolateStart(period, end, { before: end.point })
    const before = await this.#history.getPointAt(id, start)
    const [next] = before ? await this.#history.getHistory(id, start + 1, end.point.at, 1) : []
    return interpolateStart(period, end, { before, next })
  }

  /** Returns the first usable point of a window. The last point is always usable. */
  async #findFirstUsable(id: string, period: Period, end: GrowthEnd): Promise<Point> {
    for (let from = end.until - PERIODS_MS[period]; ;) {
      const points = await this.#history.getHistory(id, from, end.point.at, SEARCH_BATCH_SIZE)
      const usable = points.find((point) => isUsable(point, period, end))
      if (usable) return usable
      if (points.length < SEARCH_BATCH_SIZE) return end.point
      from = points.at(-1)!.at + 1
    }
  }
}
