import { setImmediate as nextTurn } from 'node:timers/promises'
import { changeSince, PERIODS, periods, type Bases, type Change } from './core/change.ts'
import { filterOf, isOfPeriod, Selection, type Filter, type Place, type Row, type Sort } from './core/overview.ts'
import { summarize } from './core/prepared.ts'
import type { Collection, Maybe, State } from './state/state.ts'
import { steadyAt, steadyNow } from '@influencer-stats/runtime/steady-clock'

/** A collection as an overview tells it. */
export interface CollectionRow extends Pick<Row<Collection>, 'collection' | 'known'> {
  readonly change?: Change | undefined
}

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
      for (const row of isOfPeriod(sort) ? await this.#withBases(rows) : rows) selection.offer(row)
    }
    const { rows, end } = selection.page()
    return { rows: await this.#told(rows, withChange), ...(end && { end }) }
  }

  /** Nothing if there is no such collection. */
  async one(id: string, withChange: boolean): Promise<CollectionRow | undefined> {
    const row = await this.#source.one(id)
    return row && (await this.#told([row], withChange))[0]
  }

  async #told(rows: readonly Row<Collection>[], withChange: boolean): Promise<CollectionRow[]> {
    const complete = withChange ? await this.#withBases(rows) : rows
    return complete.map(({ collection, known, bases }) => ({
      collection,
      known,
      ...(withChange && known && bases && { change: changeSince(bases, known.summary) }),
    }))
  }

  async #withBases(rows: readonly Row<Collection>[]): Promise<Row<Collection>[]> {
    const complete: Row<Collection>[] = []
    for (let i = 0; i < rows.length; i += LOOKED_UP) {
      const some = rows.slice(i, i + LOOKED_UP)
      const found = some.map(({ collection }) => this.#histories.bases(collection))
      const bases = found.some((one) => one instanceof Promise) ? await Promise.all(found) : (found as Bases[])
      for (const [j, { collection, known }] of some.entries()) complete.push({ collection, known, bases: bases[j] })
    }
    return complete
  }
}

/** What collections are compared with is looked up this often (ms): a hundredth of the shortest period. */
const RENEW = 900_000

/** What the sums of collections were. */
class Histories {
  readonly #history: Pick<State, 'history' | 'pointAt'>
  /** By what a collection is between two changes, so that none is of one that was forgotten. */
  readonly #known = new WeakMap<Collection, { readonly bases: Bases; readonly at: number }>()
  /** Looked up once for all who ask meanwhile. */
  readonly #finding = new WeakMap<Collection, Promise<Bases | undefined>>()

  constructor(history: Pick<State, 'history' | 'pointAt'>) {
    this.#history = history
  }

  /** At once where it was looked up before. */
  bases(collection: Collection): Maybe<Bases | undefined> {
    const last = this.#known.get(collection)
    if (last && steadyNow() - last.at < RENEW) return last.bases
    let finding = this.#finding.get(collection)
    if (!finding) {
      finding = this.#find(collection).finally(() => this.#finding.delete(collection))
      this.#finding.set(collection, finding)
    }
    return finding
  }

  async #find(collection: Collection): Promise<Bases | undefined> {
    const { id } = collection
    const now = Date.now()
    const [first] = await this.#history.history(id, 0, now, 1)
    if (!first) return undefined
    const found = await Promise.all(
      periods.map(async (period) => {
        const time = now - PERIODS[period]
        return [period, first.at < time ? ((await this.#history.pointAt(id, time)) ?? first) : first] as const
      }),
    )
    const bases = Object.fromEntries(found) as Bases
    this.#known.set(collection, { bases, at: steadyNow() })
    return bases
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

/** Rows as they are kept: what is known of each collection is what was kept last. @param source of what is kept */
export function keptRows(
  state: Pick<State, 'list' | 'get' | 'snapshot' | 'snapshots'>,
  source: string,
): OverviewSource {
  const rowOf = (collection: Collection, snapshot: Awaited<ReturnType<State['snapshot']>>): Row<Collection> => ({
    collection,
    known: snapshot && { summary: summarize(snapshot), at: steadyAt(snapshot.asOf), source },
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
