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
  let conflict = await findTypeConflict(draft, terms, types)
  if (conflict && getRemainingTypes) conflict = await findTypeConflict(draft, terms, await getRemainingTypes())
  if (conflict) throw errors.TYPE_CONFLICT(conflict)
}

async function findTypeConflict(draft: CatalogDraft, terms: Terms, types: KnownTypes): Promise<string | undefined> {
  const table = draft.buildTable()
  const checked = new Set<number>()
  let conflict: string | undefined
  await forEachRow(table, (number) => {
    if (conflict) return
    for (const term of table.get(number)!.values) {
      if (checked.has(term)) continue
      checked.add(term)
      const char = (draft.terms.list[draft.terms.getChar(term)] as { text: string }).text
      const type = types.get(terms.chars.getCode(char))
      if (type && !isOfType(type, draft.terms.getValue(term))) conflict ??= formatTypeConflict(char, type)
    }
  })
  return conflict
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
