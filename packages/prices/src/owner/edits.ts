import { AnswerBlock, BLOCK_ROWS, sharedBlock, slotOf } from '../core/answers.ts'
import { RowTable, type Row } from '../core/rows.ts'
import type { RowChange } from '../index/index.ts'

/** A price in terms of the dictionary. */
export interface Coded {
  readonly id: Uint8Array
  readonly row: Row
  readonly value: number
  readonly kind: number
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
}

/** The edits that put prices; a price that changes its offering goes and comes again. @param rows how many rows there are */
export function editsOf(puts: readonly Coded[], known: Known, rows: number): Edit[] {
  const edits: Edit[] = []
  let next = rows
  for (const { id, row: after, value, kind } of puts) {
    const found = known.find(id)
    const before = found < 0 ? undefined : known.rowAt(found)
    const stays = before?.offering === after.offering
    if (before && !stays) edits.push({ row: found, before, after: undefined, id, value: 0, kind: 0 })
    edits.push({ row: stays ? found : next++, before: stays ? before : undefined, after, id, value, kind })
  }
  return edits
}

/** A block with its edits made, in memory of its own: readers go on with the old one. */
export function editBlock(
  old: { readonly answers: AnswerBlock; readonly rows: RowTable } | undefined,
  edits: readonly Edit[],
): { answers: Uint8Array; rows: Uint8Array } {
  const block = new AnswerBlock(sharedBlock(old?.answers.bytes))
  const rows = Array.from({ length: old?.rows.size ?? 0 }, (_, slot) => old!.rows.get(slot))
  for (const { row, after, id, value, kind } of edits) {
    rows[slotOf(row)] = after
    if (after) block.set(slotOf(row), id, value, kind)
  }
  const table = new RowTable(BLOCK_ROWS)
  for (const row of rows) table.push(row)
  return { answers: block.bytes, rows: table.encode(0, table.size) }
}
