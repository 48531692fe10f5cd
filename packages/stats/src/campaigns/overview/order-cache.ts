import { Serial } from '@influencer-stats/runtime/async/serial'
import { steadyNow } from '@influencer-stats/runtime/steady-clock'
import { OverviewOrder } from './overview-order.ts'
import { createFilter, isPeriodSort, type OverviewFilter, type Sort } from './overview-selection.ts'
import type { CollectionRow, OverviewSource } from './overview-source.ts'

/** Maximum number of orders in memory: 10,000 rows take about 1.5 MB each. */
const MAX_ORDERS = 4
/** Time after which an order that no request used is dropped (ms), at the next change of a row. */
const UNUSED_MS = 60_000
/** Maximum age of an order by growth (ms): growth may become known without a change of the row. */
const MAX_PERIOD_AGE_MS = 10_000

export interface OrderQuery extends OverviewFilter {
  readonly sort: Sort
}

interface CachedOrder {
  /** Absent until it is built, and after a failed update. */
  order?: OverviewOrder<CollectionRow>
  readonly createdAt: number
  usedAt: number
  /** Ids of the rows that have changed since they were added to the order. */
  changed: Set<string>
  /** Runs one update at a time. */
  readonly updates: Serial
}

/**
 * Builds the requested orders of an overview. If the source notices changes, the last orders remain in memory, and the next
 * request only merges the changed rows.
 */
export class OrderCache {
  readonly #source: OverviewSource
  readonly #addGrowth: (rows: readonly CollectionRow[]) => Promise<readonly CollectionRow[]>
  /** Least recently used first. */
  readonly #orders = new Map<string, CachedOrder>()

  /** @param addGrowth returns the rows with their growth */
  constructor(
    source: OverviewSource,
    addGrowth: (rows: readonly CollectionRow[]) => Promise<readonly CollectionRow[]>,
  ) {
    this.#source = source
    this.#addGrowth = addGrowth
    source.watch?.((id) => this.#onChange(id))
  }

  /** Returns the order of the rows that match a query, with all changes made before this call. */
  async get(query: OrderQuery): Promise<OverviewOrder<CollectionRow>> {
    const key = JSON.stringify([query.sort, query.q, query.tag, query.isArchived])
    const found = this.#orders.get(key)
    const now = steadyNow()
    const isOld = found && isPeriodSort(query.sort) && now - found.createdAt > MAX_PERIOD_AGE_MS
    const cached: CachedOrder =
      found && !isOld ? found : { createdAt: now, usedAt: now, changed: new Set(), updates: new Serial() }
    cached.usedAt = now
    // The last key is the most recently used one.
    this.#orders.delete(key)
    if (this.#source.watch) this.#orders.set(key, cached)
    for (const oldest of this.#orders.keys()) if (this.#orders.size > MAX_ORDERS) this.#orders.delete(oldest)
    return cached.updates.run(() => this.#update(query, cached))
  }

  async #update(query: OrderQuery, cached: CachedOrder): Promise<OverviewOrder<CollectionRow>> {
    const { changed, order } = cached
    if (order && changed.size === 0) return order
    cached.changed = new Set()
    // After a failure the order is built again.
    delete cached.order
    return (cached.order = order ? await this.#mergeChanged(query, order, changed) : await this.#build(query))
  }

  async #build(query: OrderQuery): Promise<OverviewOrder<CollectionRow>> {
    const order = new OverviewOrder<CollectionRow>(query.sort)
    for await (const page of this.#source.readPages()) order.add(await this.#select(query, page))
    await order.merge()
    return order
  }

  async #mergeChanged(query: OrderQuery, order: OverviewOrder<CollectionRow>, changed: ReadonlySet<string>) {
    const rows = await Promise.all(Array.from(changed, (id) => this.#source.getRow(id)))
    order.add(await this.#select(query, rows.filter(isPresent)))
    await order.merge(changed)
    return order
  }

  #onChange(id: string | undefined): void {
    const unusedSince = steadyNow() - UNUSED_MS
    for (const [key, { usedAt, changed }] of this.#orders) {
      if (id === undefined || usedAt < unusedSince) this.#orders.delete(key)
      else changed.add(id)
    }
  }

  /** Returns the rows that match, with their growth if they are ordered by it. */
  async #select(query: OrderQuery, rows: readonly CollectionRow[]): Promise<readonly CollectionRow[]> {
    const isMatch = createFilter(query)
    const matching = rows.filter((row) => isMatch(row.collection))
    return isPeriodSort(query.sort) ? this.#addGrowth(matching) : matching
  }
}

const isPresent = <T>(row: T | undefined): row is T => row !== undefined
