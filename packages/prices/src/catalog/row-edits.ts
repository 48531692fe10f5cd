import type { Amount } from '../core/values/amount.ts'
import { PAGE_ROWS, toPageNumber } from '../core/answer-block.ts'
import type { CodedPrice } from '../core/encode-price.ts'
import { RowTable, type PriceRow } from '../core/row-table.ts'
import type { RowChange } from '../index/price-index.ts'

/** A price and the row that it replaces. */
export interface PriceUpsert extends CodedPrice {
  /** The number of the row that has the price's id, or -1. */
  readonly found: number
  readonly before: PriceRow | undefined
}

/** A row that is added, changed or removed, with the data of its answer. */
export interface RowEdit extends RowChange {
  readonly id: Uint8Array
  readonly value: Amount
  readonly kind: number
}

/** Access to the rows that edits change. */
export interface RowLookup {
  /** Returns the row of an id, or -1. */
  find(id: Uint8Array): number
  readRow(number: number): PriceRow
  /** The number of rows. */
  readonly rows: number
}

/** @param id undefined if no price can have it */
export function findExisting(id: Uint8Array | undefined, rows: RowLookup): Pick<PriceUpsert, 'found' | 'before'> {
  const found = id ? rows.find(id) : -1
  return { found, before: found < 0 ? undefined : rows.readRow(found) }
}

/** Returns the edits that put prices. If a price changes its offering, its row is removed and a new row is added. */
export function toEdits(puts: readonly PriceUpsert[], rows: number): RowEdit[] {
  const edits: RowEdit[] = []
  let next = rows
  for (const { id, row: after, value, kind, found, before } of puts) {
    const isInPlace = before?.offering === after.offering
    if (before && !isInPlace) edits.push({ row: found, before, after: undefined, id, value: 0, kind: 0 })
    edits.push({ row: isInPlace ? found : next++, before: isInPlace ? before : undefined, after, id, value, kind })
  }
  return edits
}

/** True if an edit changes more than the value or kind of a price. */
export function isRowChanged({ before, after }: RowChange): boolean {
  if (!before || !after) return true
  const { values, ...rest } = before
  const { values: others, ...other } = after
  const same = (name: keyof typeof rest) => rest[name] === other[name]
  return (
    !(['offering', 'group', 'spec', 'isDefault', 'from', 'to'] as const).every(same) ||
    values.length !== others.length ||
    values.some((term: number, i: number) => term !== others[i])
  )
}

/**
 * Returns the edited pages of rows.
 * @param read returns an existing page
 */
export function applyRowEdits(
  edits: readonly RowEdit[],
  rows: number,
  read: (page: number) => RowTable,
): Map<number, Uint8Array> {
  const pages = Map.groupBy(edits, ({ row }) => toPageNumber(row))
  return new Map(
    Array.from(pages, ([number, pageEdits]) => {
      const old = number * PAGE_ROWS < rows ? read(number) : undefined
      const slots = Array.from({ length: old?.size ?? 0 }, (_, slot) => old!.get(slot))
      for (const { row, after } of pageEdits) slots[row % PAGE_ROWS] = after
      const table = new RowTable(PAGE_ROWS)
      for (const row of slots) table.push(row)
      return [number, table.encode(0, table.size)]
    }),
  )
}
