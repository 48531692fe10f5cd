import type { Choice, Query } from '../core/query.ts'
import type { Row, RowTable } from '../core/rows.ts'
import type { FacetCounts, Selection } from '../core/selection.ts'

/**
 * The pieces an index lies in, by number: bytes in shared memory that never change once published, so every thread views
 * the same copy, and a search goes on in the pieces it began with.
 */
export type Segments = Map<number, Uint8Array>

/** A row that came (nothing before), changed, or went (nothing after). It never changes its offering. */
export interface RowChange {
  readonly row: number
  readonly before: Row | undefined
  readonly after: Row | undefined
}

/** What `find` gives where nothing fits. */
export const NONE = -1

/** Several rows fit and none of them is a default one: a number that `find` gives, and how many it stands for. */
export const ambiguous = (count: number) => -count - 1
export const countOf = (found: number) => -found - 1

/** What fits: how many rows, the lowest of them, and the lowest default one. `NONE` where there is no such row. */
export interface Tally {
  readonly count: number
  readonly first: number
  readonly chosen: number
}

/** Hears of rows that fit, and whether each is a default one. */
export type Visit = (row: number, isDefault: boolean) => void

/** @param each visits what fits, in whatever order */
export function tallyRows(each: (visit: Visit) => void): Tally {
  let count = 0
  let first = NONE
  let chosen = NONE
  each((row, isDefault) => {
    count++
    if (first === NONE || row < first) first = row
    if (isDefault && (chosen === NONE || row < chosen)) chosen = row
  })
  return { count, first, chosen }
}

/** All rows that fit, in no order. */
export function rowsOf(finder: Finder, query: Query): number[] {
  const rows: number[] = []
  finder.each(query, (row) => void rows.push(row))
  return rows
}

/** What `find` gives for what fits. */
export function foundOf({ count, first, chosen }: Tally): number {
  if (count <= 1) return first
  return chosen === NONE ? ambiguous(count) : chosen
}

/** Some rows. */
export interface Rows {
  has(row: number): boolean
}

export const NO_ROWS: Rows = { has: () => false }

/** Finds rows. Of one thread; it keeps nothing. */
export interface Finder {
  /** The one row that fits; of several the lowest default one; `NONE`; or `ambiguous(how many)`. */
  find(query: Query): number
  /** Visits all rows that fit. */
  each(query: Query, visit: Visit): void
  /**
   * How many rows are left after the offering, after the group, the spec, each of `choices`, and the day where one is asked
   * for. What else the query asks for does not matter.
   */
  left(query: Query, choices: readonly Choice[]): number[]
  /** Counts what rows have. Others have their turns of the loop meanwhile. */
  count(selection: Selection, counts: FacetCounts): Promise<void>
}

/** Finds rows in segments. */
export interface PriceIndex extends Finder {
  /** @param except rows that do not count */
  each(query: Query, visit: Visit, except?: Rows): void
  /** The same index with these segments in place of older ones. This one goes on as it was. */
  with(changed: Segments): PriceIndex
}

/** One way to find rows: made and changed on main, read on every thread. */
export interface IndexKind {
  /** Lets the event loop have its turns, however many rows there are. */
  build(rows: RowTable): Promise<Segments>
  /** The segments that the changes touch, made anew. */
  update(segments: Segments, changes: readonly RowChange[]): Segments
  read(segments: Segments): PriceIndex
}
