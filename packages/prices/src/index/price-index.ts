import type { Choice, SearchQuery } from '../core/search-query.ts'
import type { PriceRow, RowTable } from '../core/row-table.ts'
import type { FacetCounts, FacetSelection } from '../core/facet-selection.ts'

/**
 * The pieces an index lies in, by number: bytes in shared memory that never change once published, so every thread views
 * the same copy, and a search goes on in the pieces it began with.
 */
export type Segments = Map<number, Uint8Array>

/** A row that came (nothing before), changed, or went (nothing after). It never changes its offering. */
export interface RowChange {
  readonly row: number
  readonly before: PriceRow | undefined
  readonly after: PriceRow | undefined
}

/** What `find` gives where nothing fits. */
export const NO_MATCH = -1

/** Several rows fit and none of them is a default one: a number that `find` gives, and how many it stands for. */
export const toAmbiguous = (count: number) => -count - 1
export const toMatchCount = (found: number) => -found - 1

/** What fits: how many rows, the lowest of them, and the lowest default one. `NONE` where there is no such row. */
export interface MatchTally {
  readonly count: number
  readonly first: number
  readonly chosen: number
}

/** Hears of rows that fit, and whether each is a default one. */
export type RowVisitor = (row: number, isDefault: boolean) => void

/** @param forEach visits what fits, in whatever order */
export function countMatches(forEach: (visit: RowVisitor) => void): MatchTally {
  let count = 0
  let first = NO_MATCH
  let chosen = NO_MATCH
  forEach((row, isDefault) => {
    count++
    if (first === NO_MATCH || row < first) first = row
    if (isDefault && (chosen === NO_MATCH || row < chosen)) chosen = row
  })
  return { count, first, chosen }
}

/** All rows that fit, in no order. */
export function findRows(finder: RowFinder, query: SearchQuery): number[] {
  const rows: number[] = []
  finder.forEach(query, (row) => void rows.push(row))
  return rows
}

/** What `find` gives for what fits. */
export function toFindResult({ count, first, chosen }: MatchTally): number {
  if (count <= 1) return first
  return chosen === NO_MATCH ? toAmbiguous(count) : chosen
}

/** Some rows. */
export interface RowSet {
  has(row: number): boolean
}

export const NO_ROWS: RowSet = { has: () => false }

/** Finds rows. Of one thread; it keeps nothing. */
export interface RowFinder {
  /** The one row that fits; of several the lowest default one; `NONE`; or `ambiguous(how many)`. */
  find(query: SearchQuery): number
  /** Visits all rows that fit. */
  forEach(query: SearchQuery, visit: RowVisitor): void
  /**
   * How many rows are left after the offering, after the group, the spec, each of `choices`, and the day where one is asked
   * for. What else the query asks for does not matter.
   */
  explain(query: SearchQuery, choices: readonly Choice[]): number[]
  /** Counts what rows have. Others have their turns of the loop meanwhile. */
  count(selection: FacetSelection, counts: FacetCounts): Promise<void>
}

/** Finds rows in segments. */
export interface PriceIndex extends RowFinder {
  /** @param except rows that do not count */
  forEach(query: SearchQuery, visit: RowVisitor, except?: RowSet): void
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
