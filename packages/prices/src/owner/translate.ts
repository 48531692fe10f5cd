import { blockOf, slotOf } from '../core/answers.ts'
import type { AnswerKinds, Draft } from '../core/draft.ts'
import type { IdTable } from '../core/id-table.ts'
import type { RowTable } from '../core/rows.ts'
import { fits, type CharTypes, type Terms } from '../core/terms.ts'
import { errors } from '../errors.ts'
import { eachInTurns } from '../turn.ts'
import type { Coded } from './edits.ts'

// What an import has read, against the catalog that it becomes part of.

/** Visits the rows of a draft that are there. */
const eachRow = (table: RowTable, visit: (number: number) => void): Promise<void> =>
  eachInTurns(table.size, (number) => {
    if (table.has(number)) visit(number)
  })

/** How many prices of a draft are new. */
export async function newIn(draft: Draft, table: RowTable, known: IdTable): Promise<number> {
  let came = 0
  await eachRow(table, (number) => {
    if (known.find(draft.idOf(number)) < 0) came++
  })
  return came
}

/** @throws Problem `TYPE_CONFLICT` where another change gave a characteristic another type meanwhile */
export async function checkTypes(draft: Draft, table: RowTable, terms: Terms, types: CharTypes): Promise<void> {
  const seen = new Set<number>()
  await eachRow(table, (number) => {
    for (const term of table.get(number)!.values) {
      if (seen.has(term)) continue
      seen.add(term)
      const char = draft.terms.list[draft.terms.charOf(term)] as { text: string }
      const type = types.get(terms.chars.codeOf(char.text))
      if (type && !fits(type, draft.terms.valueOf(term)))
        throw errors.TYPE_CONFLICT(`${char.text} is of type ${type} meanwhile`)
    }
  })
}

/** The prices of a draft in terms of another dictionary, which learns those it lacks. */
export async function translate(draft: Draft, table: RowTable, terms: Terms, kinds: AnswerKinds): Promise<Coded[]> {
  const codes: number[] = []
  draft.terms.list.forEach((term, code) => {
    codes[code] = term.kind === 'value' ? terms.value(codes[term.char]!, term.value) : terms.name(term.kind, term.text)
  })
  const kindCodes = draft.kinds.list.map(({ spec, currency }) => kinds.codeOf(spec, currency))
  const coded: Coded[] = []
  await eachRow(table, (number) => {
    const row = table.get(number)!
    const block = draft.blocks[blockOf(number)]!
    coded.push({
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
    })
  })
  return coded
}
