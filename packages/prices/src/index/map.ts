import type { Choice, Query } from '../core/query.ts'
import type { FacetCounts, Selection } from '../core/selection.ts'
import { VersionedList } from '../core/versioned-list.ts'
import { eachInTurns } from '../turn.ts'
import { countRow } from './facets.ts'
import { leftAfter } from './left-after.ts'
import {
  foundOf,
  NO_ROWS,
  tallyRows,
  type IndexKind,
  type PriceIndex,
  type Rows,
  type Segments,
  type Visit,
} from './index.ts'
import { buildOfferings, plainRows, updateOfferings } from './offerings/placed-row.ts'
import { fits, testsOf, toScanned, type ScannedRow } from './scan.ts'

/** Looks at every row of the offering, each a hash table of its values. Every thread holds its own. */
export function createMapIndex(): IndexKind {
  return {
    build: (table) => buildOfferings(table, plainRows),
    update: (segments, changes) => updateOfferings(segments, changes, plainRows),
    read: (segments) => new MapIndex(VersionedList.of(scannedRows(segments))),
  }
}

export const scannedRows = (segments: Segments): [offering: number, rows: readonly ScannedRow[]][] =>
  Array.from(segments, ([offering, bytes]) => [offering, plainRows.decode(bytes).map(toScanned)])

class MapIndex implements PriceIndex {
  readonly #offerings: VersionedList<readonly ScannedRow[]>

  constructor(offerings: VersionedList<readonly ScannedRow[]>) {
    this.#offerings = offerings
  }

  with(changed: Segments): PriceIndex {
    return new MapIndex(this.#offerings.with(scannedRows(changed)))
  }

  find(query: Query): number {
    return foundOf(tallyRows((visit) => this.each(query, visit)))
  }

  each(query: Query, visit: Visit, except: Rows = NO_ROWS): void {
    for (const row of this.#offerings.get(query.offering) ?? [])
      if (fits(row, query) && !except.has(row.row)) visit(row.row, row.isDefault)
  }

  left(query: Query, choices: readonly Choice[]): number[] {
    return leftAfter(this.#offerings.get(query.offering) ?? [], testsOf(query, choices))
  }

  async count(selection: Selection, counts: FacetCounts): Promise<void> {
    for (const [, rows] of this.#offerings.entries())
      await eachInTurns(rows.length, (i) => countRow(rows[i]!, selection, counts, 1))
  }
}
