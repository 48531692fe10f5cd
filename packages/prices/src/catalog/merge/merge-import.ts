import { toBlockNumber, toSlot } from '../../core/answer-block.ts'
import type { CatalogDraft } from '../../core/catalog-draft.ts'
import type { IdTable } from '../../core/id-table.ts'
import { findTranslatedId } from '../../core/price-id.ts'
import type { RowTable } from '../../core/row-table.ts'
import { type CharTypes, type Terms } from '../../core/terms.ts'
import { errors } from '../../errors.ts'
import { forEachInTurns } from '@influencer-stats/runtime/async/yield'
import type { CodedPrice } from '../../core/encode-price.ts'
import { Translator, type CatalogDictionary } from './translator.ts'
import { isOfType } from '../../core/values/term-value.ts'

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
 * @throws Problem `TYPE_CONFLICT` if a characteristic of the draft has another type in the catalog
 */
export async function checkTypes(draft: CatalogDraft, terms: Terms, types: CharTypes): Promise<void> {
  const table = draft.buildTable()
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
