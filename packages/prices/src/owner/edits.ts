import { PAGE_ROWS, pageOf } from '../core/answers.ts'
import { RowTable, type Row } from '../core/rows.ts'
import type { RowChange } from '../index/index.ts'

/** A price in terms of the dictionary. */
export interface Coded {
  readonly id: Uint8Array
  readonly row: Row
  readonly value: number
  readonly kind: number
}

/** One with what it takes the place of. */
export interface Placed extends Coded {
  /** The row that has its id, or -1. */
  readonly found: number
  readonly before: Row | undefined
}

/** A row that comes, changes or goes, with what its answer needs. */
export interface Edit extends RowChange {
  readonly id: Uint8Array
  readonly value: number
  readonly kind: number
}

/** What edits are made to. */
export interface Known {
  /** The row of an id, or -1. */
  find(id: Uint8Array): number
  rowAt(number: number): Row
  /** How many rows there are. */
  readonly rows: number
}

export function place(id: Uint8Array, known: Known): Pick<Placed, 'found' | 'before'> {
  const found = known.find(id)
  return { found, before: found < 0 ? undefined : known.rowAt(found) }
}

/** The edits that put prices; a price that changes its offering goes and comes again. */
export function editsOf(puts: readonly Placed[], rows: number): Edit[] {
  const edits: Edit[] = []
  let next = rows
  for (const { id, row: after, value, kind, found, before } of puts) {
    const stays = before?.offering === after.offering
    if (before && !stays) edits.push({ row: found, before, after: undefined, id, value: 0, kind: 0 })
    edits.push({ row: stays ? found : next++, before: stays ? before : undefined, after, id, value, kind })
  }
  return edits
}

/** Whether an edit is of more than what a price costs. */
export function changesRow({ before, after }: RowChange): boolean {
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
export function editRows(
  edits: readonly Edit[],
  rows: number,
  read: (page: number) => RowTable,
): Map<number, Uint8Array> {
  const pages = Map.groupBy(edits, ({ row }) => pageOf(row))
  return new Map(
    Array.from(pages, ([number, ofPage]) => {
      const old = number * PAGE_ROWS < rows ? read(number) : undefined
      const slots = Array.from({ length: old?.size ?? 0 }, (_, slot) => old!.get(slot))
      for (const { row, after } of ofPage) slots[row % PAGE_ROWS] = after
      const table = new RowTable(PAGE_ROWS)
      for (const row of slots) table.push(row)
      return [number, table.encode(0, table.size)]
    }),
  )
}
