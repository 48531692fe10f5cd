import { setImmediate as nextTurn } from 'node:timers/promises'
import {
  computeGrowth,
  isUsable,
  PERIODS_MS,
  periods,
  interpolateStart,
  type GrowthByPeriod,
  type GrowthEnd,
  type Growth,
  type Period,
} from '../core/growth.ts'
import type { Point } from '../core/history-points.ts'
import { hasSameTotals } from '../core/video-numbers.ts'
import {
  createFilter,
  isPeriodSort,
  OverviewSelection,
  type OverviewFilter,
  type RowPosition,
  type OverviewRow,
  type Sort,
} from './overview-selection.ts'
import { summarize, type KnownSummary } from '../core/prepared-reply.ts'
import type { Collection, MaybePromise, StatsState } from '../state/stats-state.ts'
import { toSteadyTime, steadyNow } from '@influencer-stats/runtime/steady-clock'

/** A collection in an overview. */
export type CollectionRow = OverviewRow<Collection>

/** Filter, order, page and additions of an overview. */
export interface OverviewQuery extends OverviewFilter {
  readonly sort: Sort
  readonly limit: number
  /** Position of the last row of the previous page. */
  readonly after?: RowPosition | undefined
  readonly withChange: boolean
}

export interface OverviewPage {
  readonly rows: CollectionRow[]
  /** Position of the last row, if there is another page. */
  readonly end?: RowPosition
}

/** Source of the rows of an overview. */
export interface OverviewSource {
  /** Yields all rows in pages. Other work runs between two pages. */
  readPages(): AsyncIterable<readonly OverviewRow<Collection>[]>
  getRow(id: string): MaybePromise<OverviewRow<Collection> | undefined>
}

/** Number of collections whose histories are read at once: about 10 ms of work. */
const HISTORY_BATCH_SIZE = 50

/** Overview of all collections, on the thread that owns them. */
export class Overview {
  readonly #source: OverviewSource
  readonly #histories: GrowthReader

  constructor(source: OverviewSource, history: Pick<StatsState, 'getHistory' | 'getPointAt'>) {
    this.#source = source
    this.#histories = new GrowthReader(history)
  }

  async getPage({ sort, limit, after, withChange, ...filter }: OverviewQuery): Promise<OverviewPage> {
    const isMatch = createFilter(filter)
    const selection = new OverviewSelection<OverviewRow<Collection>>(sort, limit, after)
    for await (const page of this.#source.readPages()) {
      const rows = page.filter((row) => isMatch(row.collection))
      for (const row of isPeriodSort(sort) ? await this.#withChange(rows) : rows) selection.offer(row)
    }
    const { rows, end } = selection.getPage()
    return { rows: withChange ? await this.#withChange(rows) : rows.map(withoutChange), ...(end && { end }) }
  }

  /** Returns the row of a collection; undefined if there is no such collection. */
  async getRow(id: string, withChange: boolean): Promise<CollectionRow | undefined> {
    const row = await this.#source.getRow(id)
    if (!row) return undefined
    return withChange ? (await this.#withChange([row]))[0] : withoutChange(row)
  }

  async #withChange(rows: readonly OverviewRow<Collection>[]): Promise<CollectionRow[]> {
    const complete: CollectionRow[] = []
    for (let i = 0; i < rows.length; i += HISTORY_BATCH_SIZE) {
      const some = rows.slice(i, i + HISTORY_BATCH_SIZE)
      const found = some.map((row) => this.#histories.getGrowth(row))
      const changes = found.some((one) => one instanceof Promise)
        ? await Promise.all(found)
        : (found as GrowthByPeriod[])
      for (const [j, { collection, known }] of some.entries()) complete.push({ collection, known, change: changes[j] })
    }
    return complete
  }
}

const withoutChange = ({ collection, known }: OverviewRow<Collection>): CollectionRow => ({ collection, known })

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
class GrowthReader {
  readonly #history: Pick<StatsState, 'getHistory' | 'getPointAt'>
  /** Cached growth. A change of the collection or of its numbers creates a new key, so an old result is never found. */
  readonly #found = new WeakMap<KnownSummary, CachedGrowth>()
  /** Look-ups in progress, shared by concurrent requests. */
  readonly #finding = new WeakMap<KnownSummary, Promise<GrowthByPeriod | undefined>>()

  constructor(history: Pick<StatsState, 'getHistory' | 'getPointAt'>) {
    this.#history = history
  }

  /** Returns the growth, synchronously if it is cached. Undefined without numbers or without a history. */
  getGrowth({ collection, known }: OverviewRow<Collection>): MaybePromise<GrowthByPeriod | undefined> {
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
    const end: GrowthEnd = { point, until: isFinal ? Math.max(point.at, Date.parse(known.summary.asOf)) : point.at }
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

/**
 * Yields rows in pages.
 * @param prepareRow makes a row ready for a response
 */
export async function* toPages<T>(
  rows: readonly T[],
  prepareRow: (row: T) => T = (row) => row,
  size = 500,
): AsyncGenerator<readonly T[]> {
  for (let i = 0; i < rows.length; i += size) {
    if (i > 0) await nextTurn()
    yield rows.slice(i, i + size).map(prepareRow)
  }
}

const PAGE_SIZE = 100

/** Returns the stored collections with their last stored numbers. @param source origin of the stored numbers */
export function createStoredRows(
  state: Pick<StatsState, 'list' | 'get' | 'getSnapshot' | 'getSnapshots'>,
  source: string,
): OverviewSource {
  const toRow = (
    collection: Collection,
    snapshot: Awaited<ReturnType<StatsState['getSnapshot']>>,
  ): OverviewRow<Collection> => ({
    collection,
    known: snapshot && { summary: summarize(snapshot), at: toSteadyTime(snapshot.asOf), source },
  })
  return {
    async *readPages() {
      for (let after = '', page; (page = await state.list(after, PAGE_SIZE)).length > 0; after = page.at(-1)!.id) {
        const snapshots = await state.getSnapshots(page.map(({ id }) => id))
        yield page.map((collection, i) => toRow(collection, snapshots[i]))
        await nextTurn()
      }
    },
    async getRow(id) {
      const collection = await state.get(id)
      return collection && toRow(collection, await state.getSnapshot(id))
    },
  }
}
