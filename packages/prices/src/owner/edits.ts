import { AnswerBlock, BLOCK_ROWS, blockOf, sharedBlock, slotOf } from '../core/answers.ts'
import type { AnswerKinds, Draft } from '../core/draft.ts'
import { RowTable, type Row } from '../core/rows.ts'
import type { Terms } from '../core/terms.ts'
import { errors } from '../errors.ts'
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

/**
 * The prices of a draft in terms of another dictionary, which learns those it lacks.
 * @throws Problem `TYPE_CONFLICT`
 */
export function translate(draft: Draft, terms: Terms, kinds: AnswerKinds): Coded[] {
  const codes: number[] = []
  draft.terms.list.forEach((term, code) => {
    if (term.kind !== 'value') codes[code] = terms.name(term.kind, term.text)
    else codes[code] = terms.value(codes[term.char]!, term.value)
    if (codes[code]! < 0) throw errors.TYPE_CONFLICT('another change gave the characteristic another type meanwhile')
  })
  const kindCodes = draft.kinds.list.map(({ spec, currency }) => kinds.codeOf(spec, currency))
  const table = draft.table()
  return Array.from({ length: table.size }, (_, number) => {
    const row = table.get(number)!
    const block = draft.blocks[blockOf(number)]!
    return {
      id: draft.idOf(number),
      value: block.value(slotOf(number)),
      kind: kindCodes[block.kind(slotOf(number))]!,
      row: {
        ...row,
        offering: codes[row.offering]!,
        group: codes[row.group]!,
        spec: codes[row.spec]!,
        values: Array.from(row.values, (term) => codes[term]!),
      },
    }
  })
}
