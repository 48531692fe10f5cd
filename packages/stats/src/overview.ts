import { setImmediate as nextTurn } from 'node:timers/promises'
import {
  growthSince,
  isUsable,
  PERIODS,
  periods,
  pointAtStart,
  type Change,
  type End,
  type Growth,
  type Period,
} from './core/change.ts'
import type { Point } from './core/history.ts'
import { sameTotals } from './core/numbers.ts'
import { filterOf, isOfPeriod, Selection, type Filter, type Place, type Row, type Sort } from './core/overview.ts'
import { summarize, type Known } from './core/prepared.ts'
import type { Collection, Maybe, State } from './state/state.ts'
import { toSteadyTime, steadyNow } from '@influencer-stats/runtime/steady-clock'

/** A collection as an overview tells it. */
export type CollectionRow = Row<Collection>

/** Which collections, in which order, and what of them. */
export interface OverviewQuery extends Filter {
  readonly sort: Sort
  readonly limit: number
  /** Where the page before ended. */
  readonly after?: Place | undefined
  readonly withChange: boolean
}

export interface OverviewPage {
  readonly rows: CollectionRow[]
  /** Where the page ends, if there is another. */
  readonly end?: Place
}

/** Where an overview has its rows from. */
export interface OverviewSource {
  /** All of them, in pages between which others have their turn. */
  pages(): AsyncIterable<readonly Row<Collection>[]>
  one(id: string): Maybe<Row<Collection> | undefined>
}

/** Collections whose histories are looked up at a time: some 10 ms. */
const LOOKED_UP = 50

/** All collections at a glance, on the thread that owns them. */
export class Overview {
  readonly #source: OverviewSource
  readonly #histories: Histories

  constructor(source: OverviewSource, history: Pick<State, 'history' | 'pointAt'>) {
    this.#source = source
    this.#histories = new Histories(history)
  }

  async page({ sort, limit, after, withChange, ...filter }: OverviewQuery): Promise<OverviewPage> {
    const isAskedFor = filterOf(filter)
    const selection = new Selection<Row<Collection>>(sort, limit, after)
    for await (const page of this.#source.pages()) {
      const rows = page.filter((row) => isAskedFor(row.collection))
      for (const row of isOfPeriod(sort) ? await this.#withChange(rows) : rows) selection.offer(row)
    }
    const { rows, end } = selection.page()
    return { rows: withChange ? await this.#withChange(rows) : rows.map(withoutChange), ...(end && { end }) }
  }

  /** Nothing if there is no such collection. */
  async one(id: string, withChange: boolean): Promise<CollectionRow | undefined> {
    const row = await this.#source.one(id)
    if (!row) return undefined
    return withChange ? (await this.#withChange([row]))[0] : withoutChange(row)
  }

  async #withChange(rows: readonly Row<Collection>[]): Promise<CollectionRow[]> {
    const complete: CollectionRow[] = []
    for (let i = 0; i < rows.length; i += LOOKED_UP) {
      const some = rows.slice(i, i + LOOKED_UP)
      const found = some.map((row) => this.#histories.change(row))
      const changes = found.some((one) => one instanceof Promise) ? await Promise.all(found) : (found as Change[])
      for (const [j, { collection, known }] of some.entries()) complete.push({ collection, known, change: changes[j] })
    }
    return complete
  }
}

const withoutChange = ({ collection, known }: Row<Collection>): CollectionRow => ({ collection, known })

/** Interval between two look-ups of growth while the newest numbers are not yet in the history (ms). */
const RENEW = 60_000

/** Points per read in the search for a usable one. */
const SOUGHT = 100

interface FoundChange {
  readonly change: Change
  readonly at: number
  /** True if the history contains the numbers: the change is valid until they change. */
  readonly isFinal: boolean
}

/** Computes the growth of collections from their histories. */
class Histories {
  readonly #history: Pick<State, 'history' | 'pointAt'>
  /** Results by the numbers of a collection: a new object after each change of the collection or of its numbers. */
  readonly #found = new WeakMap<Known, FoundChange>()
  /** Look-ups in progress, shared by concurrent requests. */
  readonly #finding = new WeakMap<Known, Promise<Change | undefined>>()

  constructor(history: Pick<State, 'history' | 'pointAt'>) {
    this.#history = history
  }

  /** Returns the growth, synchronously if it is cached. Undefined without numbers or without a history. */
  change({ collection, known }: Row<Collection>): Maybe<Change | undefined> {
    if (!known) return undefined
    const last = this.#found.get(known)
    if (last && (last.isFinal || steadyNow() - last.at < RENEW)) return last.change
    let finding = this.#finding.get(known)
    if (!finding) {
      finding = this.#find(collection, known).finally(() => this.#finding.delete(known))
      this.#finding.set(known, finding)
    }
    return finding
  }

  async #find({ id, created }: Collection, known: Known): Promise<Change | undefined> {
    const point = await this.#history.pointAt(id, Date.now())
    if (!point) return undefined
    // The history may not contain the newest numbers yet: then growth ends with the last point.
    const isFinal = sameTotals(point, known.summary)
    const end: End = { point, until: isFinal ? Math.max(point.at, Date.parse(known.summary.asOf)) : point.at }
    const createdAt = created === undefined ? undefined : created / 1_000
    const growths = await Promise.all(
      periods.map(async (period): Promise<[Period, Growth]> => {
        const base = (await this.#start(id, period, end)) ?? (await this.#firstUsable(id, period, end))
        return [period, growthSince(period, base, end, createdAt)]
      }),
    )
    const change = Object.fromEntries(growths) as Change
    this.#found.set(known, { change, at: steadyNow(), isFinal })
    return change
  }

  async #start(id: string, period: Period, end: End): Promise<Point | undefined> {
    const start = end.until - PERIODS[period]
    if (start >= end.point.at) return pointAtStart(period, end, { before: end.point })
    const before = await this.#history.pointAt(id, start)
    const [next] = before ? await this.#history.history(id, start + 1, end.point.at, 1) : []
    return pointAtStart(period, end, { before, next })
  }

  /** Returns the first usable point of a window. The last point is always usable. */
  async #firstUsable(id: string, period: Period, end: End): Promise<Point> {
    for (let from = end.until - PERIODS[period]; ;) {
      const points = await this.#history.history(id, from, end.point.at, SOUGHT)
      const usable = points.find((point) => isUsable(point, period, end))
      if (usable) return usable
      if (points.length < SOUGHT) return end.point
      from = points.at(-1)!.at + 1
    }
  }
}

/** Rows that are at hand, in pages. @param ready makes one ready to be told */
export async function* inPages<T>(
  rows: readonly T[],
  ready: (row: T) => T = (row) => row,
  size = 500,
): AsyncGenerator<readonly T[]> {
  for (let i = 0; i < rows.length; i += size) {
    if (i > 0) await nextTurn()
    yield rows.slice(i, i + size).map(ready)
  }
}

const PAGE = 100

/** Returns the stored collections with their last stored numbers. @param source origin of the stored numbers */
export function keptRows(
  state: Pick<State, 'list' | 'get' | 'snapshot' | 'snapshots'>,
  source: string,
): OverviewSource {
  const rowOf = (collection: Collection, snapshot: Awaited<ReturnType<State['snapshot']>>): Row<Collection> => ({
    collection,
    known: snapshot && { summary: summarize(snapshot), at: toSteadyTime(snapshot.asOf), source },
  })
  return {
    async *pages() {
      for (let after = '', page; (page = await state.list(after, PAGE)).length > 0; after = page.at(-1)!.id) {
        const snapshots = await state.snapshots(page.map(({ id }) => id))
        yield page.map((collection, i) => rowOf(collection, snapshots[i]))
        await nextTurn()
      }
    },
    async one(id) {
      const collection = await state.get(id)
      return collection && rowOf(collection, await state.snapshot(id))
    },
  }
}
