import { blockOf, slotOf } from '../core/answers.ts'
import type { AnswerKinds, Draft } from '../core/draft.ts'
import type { IdTable } from '../core/id-table.ts'
import type { RowTable } from '../core/rows.ts'
import { fits, type CharTypes, type Terms } from '../core/terms.ts'
import { errors } from '../errors.ts'
import type { Coded } from './edits.ts'

// What an import has read, against the catalog that it becomes part of.

/** The rows of a draft that are there: their numbers. */
function* rowsOf(table: RowTable): Generator<number> {
  for (let number = 0; number < table.size; number++) if (table.has(number)) yield number
}

/** How many prices of a draft are new. */
export function newIn(draft: Draft, table: RowTable, known: IdTable): number {
  let came = 0
  for (const number of rowsOf(table)) if (known.find(draft.idOf(number)) < 0) came++
  return came
}

/** @throws Problem `TYPE_CONFLICT` where another change gave a characteristic another type meanwhile */
export function checkTypes(draft: Draft, table: RowTable, terms: Terms, types: CharTypes): void {
  const seen = new Set<number>()
  for (const number of rowsOf(table)) {
    for (const term of table.get(number)!.values) {
      if (seen.has(term)) continue
      seen.add(term)
      const char = draft.terms.list[draft.terms.charOf(term)] as { text: string }
      const type = types.get(terms.chars.codeOf(char.text))
      if (type && !fits(type, draft.terms.valueOf(term)))
        throw errors.TYPE_CONFLICT(`${char.text} is of type ${type} meanwhile`)
    }
  }
}

/** The prices of a draft in terms of another dictionary, which learns those it lacks. */
export function translate(draft: Draft, table: RowTable, terms: Terms, kinds: AnswerKinds): Coded[] {
  const codes: number[] = []
  draft.terms.list.forEach((term, code) => {
    codes[code] = term.kind === 'value' ? terms.value(codes[term.char]!, term.value) : terms.name(term.kind, term.text)
  })
  const kindCodes = draft.kinds.list.map(({ spec, currency }) => kinds.codeOf(spec, currency))
  return Array.from(rowsOf(table), (number) => {
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
