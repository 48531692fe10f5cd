import type { Choice, SearchQuery } from '../core/search-query.ts'
import type { FacetCounts, FacetSelection } from '../core/facet-selection.ts'
import { VersionedList } from '../core/collections/versioned-list.ts'
import { forEachInTurns } from '@influencer-stats/runtime/async/yield'
import { countRow } from './count-facets.ts'
import { explainTests } from './explain-tests.ts'
import {
  toFindResult,
  NO_ROWS,
  countMatches,
  readSegments,
  type IndexKind,
  type PriceIndex,
  type RowSet,
  type SegmentChanges,
  type RowVisitor,
} from './price-index.ts'
import { buildOfferings, plainRowsCodec, updateOfferings } from './offerings/offering-codec.ts'
import { isMatch, createTests, getRank, toScannedRow, type ScannedRow } from './row-scan.ts'

/** Scans every row of the offering; each row has a hash table of its values. Every thread holds a separate copy. */
export function createMapIndex(): IndexKind {
  return {
    build: (table) => buildOfferings(table, plainRowsCodec),
    update: (segments, changes) => updateOfferings(segments, changes, plainRowsCodec),
    read: (segments) => new MapIndex(VersionedList.fromEntries(readSegments(segments, readScannedRows))),
  }
}

export const readScannedRows = (bytes: Uint8Array): readonly ScannedRow[] =>
  plainRowsCodec.decode(bytes).map(toScannedRow)

class MapIndex implements PriceIndex {
  readonly #offerings: VersionedList<readonly ScannedRow[]>

  constructor(offerings: VersionedList<readonly ScannedRow[]>) {
    this.#offerings = offerings
  }

  with(changed: SegmentChanges): PriceIndex {
    return new MapIndex(this.#offerings.with(readSegments(changed, readScannedRows)))
  }

  find(query: SearchQuery): number {
    return toFindResult(countMatches((visit) => this.forEach(query, visit)))
  }

  forEach(query: SearchQuery, visit: RowVisitor, except: RowSet = NO_ROWS): void {
    for (const row of this.#offerings.get(query.offering) ?? [])
      if (isMatch(row, query) && !except.has(row.row)) visit(row.row, getRank(row))
  }

  explain(query: SearchQuery, choices: readonly Choice[]): number[] {
    return explainTests(this.#offerings.get(query.offering) ?? [], createTests(query, choices))
  }

  async count(selection: FacetSelection, counts: FacetCounts): Promise<void> {
    for (const [, rows] of this.#offerings.entries())
      await forEachInTurns(rows.length, (i) => countRow(rows[i]!, selection, counts, 1))
  }
}
