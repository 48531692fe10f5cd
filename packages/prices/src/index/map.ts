import { FREE, type Query } from '../core/query.ts'
import { ambiguous, NONE, type IndexKind, type PriceIndex, type Segments } from './index.ts'
import { buildOfferings, plainRows, updateOfferings, type PlacedRow } from './offerings/placed-row.ts'

/** A row as it is scanned. */
export interface MappedRow extends Omit<PlacedRow, 'values'> {
  readonly values: ReadonlySet<number>
}

/** Looks at every row of the offering, each a hash table of its values. Every thread holds its own. */
export function createMapIndex(): IndexKind {
  return {
    build: (table) => buildOfferings(table, plainRows),
    update: (segments, changes) => updateOfferings(segments, changes, plainRows),
    read: (segments) => new MapIndex(mapRows(segments)),
  }
}

export const mapRows = (segments: Segments): Map<number, readonly MappedRow[]> =>
  new Map(
    Array.from(segments, ([offering, bytes]) => [
      offering,
      plainRows.decode(bytes).map((row) => ({ ...row, values: new Set(row.values) })),
    ]),
  )

/** Whether a row fits: the search in one sentence. */
export function fits(row: MappedRow, { group, spec, values, count, any, at }: Query): boolean {
  if (group !== FREE && row.group !== group) return false
  if (spec !== FREE && row.spec !== spec) return false
  for (let i = 0; i < count; i++) if (!row.values.has(values[i]!)) return false
  for (const terms of any) if (!terms.some((term) => row.values.has(term))) return false
  return at === undefined || (row.from <= at && at <= row.to)
}

class MapIndex implements PriceIndex {
  readonly #offerings: Map<number, readonly MappedRow[]>

  constructor(offerings: Map<number, readonly MappedRow[]>) {
    this.#offerings = offerings
  }

  with(changed: Segments): PriceIndex {
    return new MapIndex(new Map([...this.#offerings, ...mapRows(changed)]))
  }

  find(query: Query): number {
    let found = 0
    let first = NONE
    let chosen = NONE
    for (const row of this.#offerings.get(query.offering) ?? []) {
      if (!fits(row, query)) continue
      if (found++ === 0) first = row.row
      if (row.isDefault && chosen === NONE) chosen = row.row
    }
    if (found <= 1) return first
    return chosen === NONE ? ambiguous(found) : chosen
  }

  count(query: Query): number {
    let found = 0
    for (const row of this.#offerings.get(query.offering) ?? []) if (fits(row, query)) found++
    return found
  }
}
