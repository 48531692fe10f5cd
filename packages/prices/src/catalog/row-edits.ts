import { PAGE_ROWS, toPageNumber } from '../core/answer-block.ts'
import { RowTable, type PriceRow } from '../core/row-table.ts'
import type { RowChange } from '../index/price-index.ts'

/** A price in terms of the dictionary. */
export interface CodedPrice {
  readonly id: Uint8Array
  readonly row: PriceRow
  readonly value: number
  readonly kind: number
}

/** One with what it takes the place of. */
export interface PriceUpsert extends CodedPrice {
  /** The row that has its id, or -1. */
  readonly found: number
  readonly before: PriceRow | undefined
}

/** A row that comes, changes or goes, with what its answer needs. */
export interface RowEdit extends RowChange {
  readonly id: Uint8Array
  readonly value: number
  readonly kind: number
}

/** What edits are made to. */
export interface RowLookup {
  /** The row of an id, or -1. */
  find(id: Uint8Array): number
  readRow(number: number): PriceRow
  /** How many rows there are. */
  readonly rows: number
}

export function findExisting(id: Uint8Array, rows: RowLookup): Pick<PriceUpsert, 'found' | 'before'> {
  const found = rows.find(id)
  return { found, before: found < 0 ? undefined : rows.readRow(found) }
}

/** The edits that put prices; a price that changes its offering goes and comes again. */
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

/** Whether an edit is of more than what a price costs. */
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

/** The pages of rows that edits touch, with the edits made. @param read a page that is there */
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
