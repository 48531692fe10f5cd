import type { Choice, Query } from '../core/query.ts'
import { VersionedList } from '../core/versioned-list.ts'
import { leftAfter } from './left-after.ts'
import {
  foundOf,
  NO_ROWS,
  NONE,
  type IndexKind,
  type PriceIndex,
  type Rows,
  type Segments,
  type Tally,
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
    return foundOf(this.tally(query, NO_ROWS))
  }

  tally(query: Query, except: Rows): Tally {
    let count = 0
    let first = NONE
    let chosen = NONE
    for (const row of this.#offerings.get(query.offering) ?? []) {
      if (!fits(row, query) || except.has(row.row)) continue
      if (count++ === 0) first = row.row
      if (row.isDefault && chosen === NONE) chosen = row.row
    }
    return { count, first, chosen }
  }

  left(query: Query, choices: readonly Choice[]): number[] {
    return leftAfter(this.#offerings.get(query.offering) ?? [], testsOf(query, choices))
  }
}
