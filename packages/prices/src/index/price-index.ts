import type { Choice, SearchQuery } from '../core/search-query.ts'
import type { PriceRow, RowTable } from '../core/row-table.ts'
import { NO_RANK } from './rank.ts'
import type { FacetCounts, FacetSelection } from '../core/facet-selection.ts'

/**
 * The pieces of an index, by number. They are bytes in shared memory that never change after publication. Every thread
 * views the same copy, and a search uses the same pieces until its end.
 */
export type Segments = Map<number, Uint8Array>

/** Segments that replace older ones; undefined for those that no row needs any more. */
export type SegmentChanges = Map<number, Uint8Array | undefined>

/** Reads segments. Returns the results by the numbers of the segments; undefined for those that are removed. */
export const readSegments = <T>(
  segments: Iterable<readonly [number: number, bytes: Uint8Array | undefined]>,
  read: (bytes: Uint8Array, number: number) => T,
): [number: number, one: T | undefined][] =>
  Array.from(segments, ([number, bytes]) => [number, bytes && read(bytes, number)])

/** Applies changes to segments. */
export function applySegmentChanges(segments: Segments, changed: SegmentChanges): void {
  for (const [number, bytes] of changed) {
    if (bytes) segments.set(number, bytes)
    else segments.delete(number)
  }
}

/** A row that was added (no `before`), changed, or removed (no `after`). It never changes its offering. */
export interface RowChange {
  readonly row: number
  readonly before: PriceRow | undefined
  readonly after: PriceRow | undefined
}

/** The result of `find` if no row matches. */
export const NO_MATCH = -1

/**
 * The encoding of an ambiguous result of `find`: several rows match and none is a default row. `toMatchCount` decodes
 * the number of rows.
 */
export const toAmbiguous = (count: number) => -count - 1
export const toMatchCount = (found: number) => -found - 1

/**
 * The matches: number of rows, the lowest of them, and the default row with the highest rank, which is the lowest one of
 * several. `NO_MATCH` if there is no such row.
 */
export interface MatchTally {
  readonly count: number
  readonly first: number
  readonly bestDefault: number
}

/** Receives each matching row, and its rank if it is a default row, else `NO_RANK`. */
export type RowVisitor = (row: number, rank: number) => void

/** Counts the matching rows. @param forEach visits these rows, in any order */
export function countMatches(forEach: (visit: RowVisitor) => void): MatchTally {
  let count = 0
  let first = NO_MATCH
  let bestDefault = NO_MATCH
  let bestRank = NO_RANK
  forEach((row, rank) => {
    count++
    if (first === NO_MATCH || row < first) first = row
    if (rank === NO_RANK || rank < bestRank || (rank === bestRank && row > bestDefault)) return
    bestDefault = row
    bestRank = rank
  })
  return { count, first, bestDefault }
}

/** Returns the result of `find`, also for a query with a `test`. */
export function findRow(finder: RowFinder, query: SearchQuery): number {
  const { test } = query
  if (!test) return finder.find(query)
  return toFindResult(
    countMatches((visit) =>
      finder.forEach(query, (row, rank) => {
        if (test(row)) visit(row, rank)
      }),
    ),
  )
}

/** Returns all rows that match a query and its `test`, in no order. */
export function findRows(finder: RowFinder, query: SearchQuery): number[] {
  const { test } = query
  const rows: number[] = []
  finder.forEach(query, (row) => {
    if (!test || test(row)) rows.push(row)
  })
  return rows
}

/** Returns the result of `find` for these matches. */
export function toFindResult({ count, first, bestDefault }: MatchTally): number {
  if (count <= 1) return first
  return bestDefault === NO_MATCH ? toAmbiguous(count) : bestDefault
}

/** A set of rows. */
export interface RowSet {
  has(row: number): boolean
}

export const NO_ROWS: RowSet = { has: () => false }

/** Finds rows. Each thread has its own finder. Earlier calls do not change the results, but may fill caches. */
export interface RowFinder {
  /**
   * Returns the one matching row. If several rows match, returns the default row with the highest rank, or
   * `toAmbiguous(count)` if none is a default row. If no row matches, returns `NO_MATCH`.
   */
  find(query: SearchQuery): number
  /** Visits all matching rows. The group and the spec of the query may be `ANY_TERM`. */
  forEach(query: SearchQuery, visit: RowVisitor): void
  /**
   * Returns how many rows remain after the offering, after the group, the spec, each of `choices`, and the moment if the
   * query has one. Other conditions of the query are ignored.
   */
  explain(query: SearchQuery, choices: readonly Choice[]): number[]
  /** Counts the terms of rows. It yields to the event loop meanwhile. */
  count(selection: FacetSelection, counts: FacetCounts): Promise<void>
}

/** Finds rows in segments. */
export interface PriceIndex extends RowFinder {
  /** @param except rows to ignore */
  forEach(query: SearchQuery, visit: RowVisitor, except?: RowSet): void
  /** Returns the same index with these segments instead of older ones. This index does not change. */
  with(changed: SegmentChanges): PriceIndex
}

/** An alternative index: built and updated on the main thread, read on every thread. */
export interface IndexKind {
  /** Builds all segments. It yields to the event loop meanwhile. */
  build(rows: RowTable): Promise<Segments>
  /** Returns the rebuilt segments that the changes affect. */
  update(segments: Pick<Segments, 'get'>, changes: readonly RowChange[]): SegmentChanges
  read(segments: Segments): PriceIndex
}
