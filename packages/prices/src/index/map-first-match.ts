import type { Choice, SearchQuery } from '../core/search-query.ts'
import type { FacetCounts, FacetSelection } from '../core/facet-selection.ts'
import { VersionedList } from '../core/collections/versioned-list.ts'
import {
  NO_ROWS,
  NO_MATCH,
  readSegments,
  type IndexKind,
  type PriceIndex,
  type RowSet,
  type SegmentChanges,
  type RowVisitor,
} from './price-index.ts'
import { createMapIndex, readScannedRows } from './map.ts'
import { isMatch, type ScannedRow } from './row-scan.ts'

/**
 * Like `map`, but stops at the first matching row if no other can match: each row of the offering has as many values as
 * the query, and no two rows have the same group, spec and values.
 */
export function createMapFirstMatchIndex(): IndexKind {
  const map = createMapIndex()
  return {
    ...map,
    read: (segments) =>
      new MapFirstMatchIndex(map.read(segments), VersionedList.fromEntries(readSegments(segments, readScan))),
  }
}

interface OfferingScan {
  readonly rows: readonly ScannedRow[]
  /** The number of values of each row; undefined if it differs, or if two rows have the same group, spec and values. */
  readonly values: number | undefined
}

function readScan(bytes: Uint8Array): OfferingScan {
  const rows = readScannedRows(bytes)
  const values = rows[0]?.values.size ?? 0
  const even = rows.every((row) => row.values.size === values)
  const keys = new Set(rows.map((row) => [row.group, row.spec, ...[...row.values].sort()].join()))
  return { rows, values: even && keys.size === rows.length ? values : undefined }
}

function countDistinctValues({ values, count }: SearchQuery): number {
  let found = 0
  for (let i = 0; i < count; i++) if (values.indexOf(values[i]!) === i) found++
  return found
}

class MapFirstMatchIndex implements PriceIndex {
  readonly #mapIndex: PriceIndex
  readonly #scans: VersionedList<OfferingScan>

  constructor(mapIndex: PriceIndex, scans: VersionedList<OfferingScan>) {
    this.#mapIndex = mapIndex
    this.#scans = scans
  }

  with(changed: SegmentChanges): PriceIndex {
    return new MapFirstMatchIndex(this.#mapIndex.with(changed), this.#scans.with(readSegments(changed, readScan)))
  }

  find(query: SearchQuery): number {
    const scan = this.#scans.get(query.offering)
    if (!scan || scan.values !== countDistinctValues(query) || query.count === 0) return this.#mapIndex.find(query)
    for (const row of scan.rows) if (isMatch(row, query)) return row.row
    return NO_MATCH
  }

  forEach(query: SearchQuery, visit: RowVisitor, except: RowSet = NO_ROWS): void {
    this.#mapIndex.forEach(query, visit, except)
  }

  explain(query: SearchQuery, choices: readonly Choice[]): number[] {
    return this.#mapIndex.explain(query, choices)
  }

  count(selection: FacetSelection, counts: FacetCounts): Promise<void> {
    return this.#mapIndex.count(selection, counts)
  }
}
