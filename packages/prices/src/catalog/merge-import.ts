import { toBlockNumber, toSlot, type AnswerKinds } from '../core/answer-block.ts'
import type { CatalogDraft } from '../core/catalog-draft.ts'
import type { IdTable } from '../core/id-table.ts'
import type { RowTable } from '../core/row-table.ts'
import { isOfType, type CharTypes, type Terms } from '../core/terms.ts'
import { errors } from '../errors.ts'
import { forEachInTurns } from '@influencer-stats/runtime/async/yield'
import type { CodedPrice } from '../core/encode-price.ts'

// Functions that compare an import with the catalog that it is merged into.

/** Visits the existing rows of a draft. */
const forEachRow = (table: RowTable, visit: (number: number) => void): Promise<void> =>
  forEachInTurns(table.size, (number) => {
    if (table.has(number)) visit(number)
  })

/** Returns how many prices of a draft are new. */
export async function countNewPrices(draft: CatalogDraft, table: RowTable, ids: IdTable): Promise<number> {
  let added = 0
  await forEachRow(table, (number) => {
    if (ids.find(draft.getId(number)) < 0) added++
  })
  return added
}

/**
 * Checks the types of a draft against the catalog.
 * @throws Problem `TYPE_CONFLICT` if a characteristic of the draft has another type in the catalog
 */
export async function checkTypes(draft: CatalogDraft, table: RowTable, terms: Terms, types: CharTypes): Promise<void> {
  const checked = new Set<number>()
  await forEachRow(table, (number) => {
    for (const term of table.get(number)!.values) {
      if (checked.has(term)) continue
      checked.add(term)
      const char = draft.terms.list[draft.terms.getChar(term)] as { text: string }
      const type = types.get(terms.chars.getCode(char.text))
      if (type && !isOfType(type, draft.terms.getValue(term)))
        throw errors.TYPE_CONFLICT(`${char.text} has the type ${type} in the meantime`)
    }
  })
}

/**
 * Converts the prices of a draft to the numbers that the catalog gives to their terms and kinds. New ones are added to
 * `terms` and `kinds`.
 */
export async function translatePrices(
  draft: CatalogDraft,
  table: RowTable,
  terms: Terms,
  kinds: AnswerKinds,
): Promise<CodedPrice[]> {
  const codes: number[] = []
  draft.terms.list.forEach((term, code) => {
    codes[code] =
      term.kind === 'value' ? terms.ensureValue(codes[term.char]!, term.value) : terms.ensureName(term.kind, term.text)
  })
  const kindCodes = draft.kinds.list.map(({ spec, currency }) => kinds.ensureCode(spec, currency))
  const coded: CodedPrice[] = []
  await forEachRow(table, (number) => {
    const row = table.get(number)!
    const block = draft.blocks[toBlockNumber(number)]!
    coded.push({
      id: draft.getId(number),
      value: block.getValue(toSlot(number)),
      kind: kindCodes[block.getKind(toSlot(number))]!,
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
