import type { Choice, Query } from '../core/query.ts'
import type { FacetCounts, Selection } from '../core/selection.ts'
import { VersionedList } from '../core/versioned-list.ts'
import { NO_ROWS, NONE, type IndexKind, type PriceIndex, type Rows, type Segments, type Visit } from './index.ts'
import { createMapIndex, scannedRows } from './map.ts'
import { fits, type ScannedRow } from './scan.ts'

/**
 * Like `map`, but stops at the first row that fits where no other can: where all rows of the offering have as many values
 * as the query names, and no two rows have the same.
 */
export function createMapFirstMatchIndex(): IndexKind {
  const map = createMapIndex()
  return { ...map, read: (segments) => new MapFirstMatchIndex(map.read(segments), VersionedList.of(scansOf(segments))) }
}

interface Scan {
  readonly rows: readonly ScannedRow[]
  /** How many values every row has, if no two rows have the same. */
  readonly values: number | undefined
}

const scansOf = (segments: Segments): [offering: number, scan: Scan][] =>
  scannedRows(segments).map(([offering, rows]) => {
    const values = rows[0]?.values.size ?? 0
    const even = rows.every((row) => row.values.size === values)
    const keys = new Set(rows.map((row) => [row.group, row.spec, ...[...row.values].sort()].join()))
    return [offering, { rows, values: even && keys.size === rows.length ? values : undefined }]
  })

function distinct({ values, count }: Query): number {
  let found = 0
  for (let i = 0; i < count; i++) if (values.indexOf(values[i]!) === i) found++
  return found
}

class MapFirstMatchIndex implements PriceIndex {
  readonly #all: PriceIndex
  readonly #scans: VersionedList<Scan>

  constructor(all: PriceIndex, scans: VersionedList<Scan>) {
    this.#all = all
    this.#scans = scans
  }

  with(changed: Segments): PriceIndex {
    return new MapFirstMatchIndex(this.#all.with(changed), this.#scans.with(scansOf(changed)))
  }

  find(query: Query): number {
    const scan = this.#scans.get(query.offering)
    if (!scan || scan.values !== distinct(query) || query.count === 0) return this.#all.find(query)
    for (const row of scan.rows) if (fits(row, query)) return row.row
    return NONE
  }

  each(query: Query, visit: Visit, except: Rows = NO_ROWS): void {
    this.#all.each(query, visit, except)
  }

  left(query: Query, choices: readonly Choice[]): number[] {
    return this.#all.left(query, choices)
  }

  count(selection: Selection, counts: FacetCounts): Promise<void> {
    return this.#all.count(selection, counts)
  }
}
