import type { AnswerWords } from '../../core/answer-words.ts'
import { toBlockNumber, toSlot } from '../../core/answer-block.ts'
import type { CatalogDraft } from '../../core/catalog-draft.ts'
import type { IdTable } from '../../core/id-table.ts'
import { findTranslatedId } from '../../core/price-id.ts'
import type { RowTable } from '../../core/row-table.ts'
import { type KnownTypes, type Terms } from '../../core/terms.ts'
import { errors } from '../../errors.ts'
import { forEachInTurns } from '@influencer-stats/runtime/async/yield'
import type { CodedPrice } from '../../core/encode-price.ts'
import { Translator, type CatalogDictionary } from './translator.ts'
import { isOfType, formatTypeConflict } from '../../core/values/term-value.ts'

// Functions that compare an import with the catalog that it is merged into.

/** Visits the existing rows of a draft. */
const forEachRow = (table: RowTable, visit: (number: number) => void): Promise<void> =>
  forEachInTurns(table.size, (number) => {
    if (table.has(number)) visit(number)
  })

/** Returns how many prices of a draft are new. */
export async function countNewPrices(
  draft: CatalogDraft,
  { ids, words }: Pick<CatalogDictionary, 'words'> & { readonly ids: IdTable },
): Promise<number> {
  let added = 0
  await forEachRow(draft.buildTable(), (number) => {
    const id = findTranslatedId(draft.getId(number), draft.words, words)
    if (!id || ids.find(id) < 0) added++
  })
  return added
}

/**
 * Checks the types of a draft against the catalog.
 * @param getRemainingTypes returns the types of the prices that the import does not replace; undefined to compare with
 * those of all prices
 * @throws Problem `TYPE_CONFLICT` if a characteristic of the draft has another type in the catalog
 */
export async function checkTypes(
  draft: CatalogDraft,
  terms: Terms,
  types: KnownTypes,
  getRemainingTypes?: () => Promise<KnownTypes>,
): Promise<void> {
  // Also the values of lines that a later line with the same id replaces: each line must be valid.
  const values = getRemainingTypes ? draft.terms.list.keys() : await listValues(draft)
  let conflict = findTypeConflict(draft, values, terms, types)
  if (conflict && getRemainingTypes)
    conflict = findTypeConflict(draft, draft.terms.list.keys(), terms, await getRemainingTypes())
  if (conflict) throw errors.TYPE_CONFLICT(conflict)
}

/** Returns the terms of the values that the rows of a draft have. */
async function listValues(draft: CatalogDraft): Promise<Set<number>> {
  const table = draft.buildTable()
  const found = new Set<number>()
  await forEachRow(table, (number) => {
    for (const term of table.get(number)!.values) found.add(term)
  })
  return found
}

function findTypeConflict(
  draft: CatalogDraft,
  found: Iterable<number>,
  terms: Terms,
  types: KnownTypes,
): string | undefined {
  for (const code of found) {
    const term = draft.terms.list[code]!
    if (term.kind !== 'value') continue
    const char = (draft.terms.list[term.char] as { text: string }).text
    const type = types.get(terms.chars.getCode(char))
    if (type && !isOfType(type, term.value)) return formatTypeConflict(char, type)
  }
  return undefined
}

/** Visits the ids of the prices of a draft, as the dictionary of a catalog has them, if it has them. */
export const forEachKnownId = (
  draft: CatalogDraft,
  words: AnswerWords,
  visit: (id: Uint8Array) => void,
): Promise<void> =>
  forEachRow(draft.buildTable(), (number) => {
    const id = findTranslatedId(draft.getId(number), draft.words, words)
    if (id) visit(id)
  })

/**
 * Converts the prices of a draft to the numbers that the catalog gives to their terms and words. New ones are added to
 * the dictionary of the catalog.
 */
export async function translatePrices(draft: CatalogDraft, to: CatalogDictionary): Promise<CodedPrice[]> {
  const table = draft.buildTable()
  const translator = new Translator(draft, to)
  const coded: CodedPrice[] = []
  await forEachRow(table, (number) => {
    const block = draft.blocks[toBlockNumber(number)]!
    coded.push(translator.translatePrice(table.get(number)!, block, toSlot(number)))
  })
  return coded
}
