import type { GrowthByPeriod } from '../../core/growth.ts'
import type { StatsState } from '../../state/stats-state.ts'
import { GrowthReader } from '../growth-reader.ts'
import { OrderCache, type OrderQuery } from './order-cache.ts'
import type { RowPosition } from './overview-selection.ts'
import type { CollectionRow, OverviewSource } from './overview-source.ts'

/** Filter, order, page and additions of an overview. */
export interface OverviewQuery extends OrderQuery {
  readonly limit: number
  /** Number of rows to skip, from the position `after` on. */
  readonly offset?: number | undefined
  /** Position of the last row of the previous page. */
  readonly after?: RowPosition | undefined
  readonly withChange: boolean
}

export interface OverviewPage {
  readonly rows: CollectionRow[]
  /** Position of the last row, if there is another page. */
  readonly end?: RowPosition
  /** Number of rows that match the filter. */
  readonly total: number
}

/** Number of collections whose histories are read at once: about 10 ms of work. */
const HISTORY_BATCH_SIZE = 50

/** Overview of all collections, on the thread that owns them. */
export class Overview {
  readonly #source: OverviewSource
  readonly #histories: GrowthReader
  readonly #orders: OrderCache

  constructor(source: OverviewSource, history: Pick<StatsState, 'getHistory' | 'getPointAt'>) {
    this.#source = source
    this.#histories = new GrowthReader(history)
    this.#orders = new OrderCache(source, (rows) => this.#withChange(rows))
  }

  async getPage({ limit, offset = 0, after, withChange, ...query }: OverviewQuery): Promise<OverviewPage> {
    const { rows, ...rest } = (await this.#orders.get(query)).getPage(limit, offset, after)
    return { ...rest, rows: withChange ? await this.#withChange(rows) : rows.map(withoutChange) }
  }

  /** Returns the row of a collection; undefined if there is no such collection. */
  async getRow(id: string, withChange: boolean): Promise<CollectionRow | undefined> {
    const row = await this.#source.getRow(id)
    if (!row) return undefined
    return withChange ? (await this.#withChange([row]))[0] : withoutChange(row)
  }

  async #withChange(rows: readonly CollectionRow[]): Promise<CollectionRow[]> {
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

const withoutChange = ({ collection, known }: CollectionRow): CollectionRow => ({ collection, known })
