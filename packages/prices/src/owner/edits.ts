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

/** A block with its edits made, in memory of its own: readers go on with the old one. Rows only where they change. */
export function editBlock(
  old: { readonly answers: AnswerBlock; readonly rows: () => RowTable } | undefined,
  edits: readonly Edit[],
): { answers: Uint8Array; rows: Uint8Array | undefined } {
  const block = new AnswerBlock(sharedBlock(old?.answers.bytes))
  for (const { row, after, id, value, kind } of edits) if (after) block.set(slotOf(row), id, value, kind)
  return { answers: block.bytes, rows: edits.some(changesRow) ? editRows(old?.rows(), edits) : undefined }
}

function editRows(old: RowTable | undefined, edits: readonly Edit[]): Uint8Array {
  const rows = Array.from({ length: old?.size ?? 0 }, (_, slot) => old!.get(slot))
  for (const { row, after } of edits) rows[slotOf(row)] = after
  const table = new RowTable(BLOCK_ROWS)
  for (const row of rows) table.push(row)
  return table.encode(0, table.size)
}
