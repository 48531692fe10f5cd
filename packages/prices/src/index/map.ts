import type { Choice, Query } from '../core/query.ts'
import { leftAfter } from './left-after.ts'
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
export function fits(row: MappedRow, { group, spec, values, count, choices, at }: Query): boolean {
  if (row.group !== group || row.spec !== spec) return false
  for (let i = 0; i < count; i++) if (!row.values.has(values[i]!)) return false
  for (const choice of choices) if (!hasChosen(row, choice)) return false
  return at === undefined || isValid(row, at)
}

function hasChosen({ values }: MappedRow, { char, charOf, accepts }: Choice): boolean {
  for (const term of values) if (charOf(term) === char) return accepts(term)
  return false
}

const isValid = ({ from, to }: MappedRow, day: number) => from <= day && day <= to

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

  left({ offering, group, spec, at }: Query, choices: readonly Choice[]): number[] {
    return leftAfter(this.#offerings.get(offering) ?? [], [
      (row) => row.group === group,
      (row) => row.spec === spec,
      ...choices.map((choice) => (row: MappedRow) => hasChosen(row, choice)),
      ...(at === undefined ? [] : [(row: MappedRow) => isValid(row, at)]),
    ])
  }
}
