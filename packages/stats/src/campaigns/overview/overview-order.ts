import { yieldTurn } from '@influencer-stats/runtime/async/yield'
import { createComparator, getSortValue, type OverviewRow, type RowPosition, type Sort } from './overview-selection.ts'

interface OrderedRow<R extends OverviewRow> {
  readonly position: RowPosition
  readonly row: R
}

/** A page of an order. */
export interface OrderPage<R extends OverviewRow> {
  readonly rows: R[]
  /** Position of the last row, if there is another page. */
  readonly end?: RowPosition
  /** Number of rows of the order. */
  readonly total: number
}

/** Number of rows that are merged between two calls of `yieldTurn`: below 1 ms of work, also for names. */
const MERGE_SLICE = 500

/** Rows in an order. A page takes a binary search; changed rows are merged in without sorting the others. */
export class OverviewOrder<R extends OverviewRow> {
  readonly #sort: Sort
  readonly #compare: (a: RowPosition, b: RowPosition) => number
  #ordered: readonly OrderedRow<R>[] = []
  /** Sorted runs of rows that `merge` adds. */
  #runs: OrderedRow<R>[][] = []

  constructor(sort: Sort) {
    this.#sort = sort
    this.#compare = createComparator(sort)
  }

  /** Adds rows that the order does not contain. They appear after the next `merge`. */
  add(rows: readonly R[]): void {
    if (rows.length === 0) return
    const run = rows.map((row) => ({ position: this.#toPosition(row), row }))
    this.#runs.push(run.sort((a, b) => this.#compare(a.position, b.position)))
  }

  /**
   * Merges the added rows. Other work runs between two slices of it.
   * @param removed ids of the rows that leave the order
   */
  async merge(removed?: ReadonlySet<string>): Promise<void> {
    const ordered = removed ? this.#ordered.filter(({ row }) => !removed.has(row.collection.id)) : this.#ordered
    let runs: (readonly OrderedRow<R>[])[] = this.#runs
    this.#runs = []
    while (runs.length > 1) {
      const merged: OrderedRow<R>[][] = []
      for (let i = 0; i < runs.length; i += 2) merged.push(await this.#mergeTwo(runs[i]!, runs[i + 1] ?? []))
      runs = merged
    }
    this.#ordered = await this.#mergeTwo(ordered, runs[0] ?? [])
  }

  async #mergeTwo(a: readonly OrderedRow<R>[], b: readonly OrderedRow<R>[]): Promise<OrderedRow<R>[]> {
    const merged: OrderedRow<R>[] = []
    let [i, j] = [0, 0]
    while (i < a.length && j < b.length) {
      merged.push(this.#compare(a[i]!.position, b[j]!.position) <= 0 ? a[i++]! : b[j++]!)
      if (merged.length % MERGE_SLICE === 0) await yieldTurn()
    }
    return merged.concat(a.slice(i), b.slice(j))
  }

  /** Returns `limit` rows after the position `after` (default: the start), without the first `offset` of them. */
  getPage(limit: number, offset: number, after: RowPosition | undefined): OrderPage<R> {
    const total = this.#ordered.length
    const start = offset + (after ? this.#findAfter(after) : 0)
    const page = this.#ordered.slice(start, start + limit)
    const isLast = start + limit >= total
    return { rows: page.map(({ row }) => row), total, ...(!isLast && { end: page.at(-1)!.position }) }
  }

  /** Returns the number of rows at or before a position. */
  #findAfter(position: RowPosition): number {
    let [low, high] = [0, this.#ordered.length]
    while (low < high) {
      const middle = (low + high) >>> 1
      if (this.#compare(this.#ordered[middle]!.position, position) <= 0) low = middle + 1
      else high = middle
    }
    return low
  }

  #toPosition = (row: R): RowPosition => [getSortValue(row, this.#sort), row.collection.id]
}
