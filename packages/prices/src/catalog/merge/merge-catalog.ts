import { BLOCK_ROWS, type AnswerBlock } from '../../core/answer-block.ts'
import { CatalogDraft } from '../../core/catalog-draft.ts'
import { findTranslatedId } from '../../core/price-id.ts'
import type { PriceRow } from '../../core/row-table.ts'
import { Translator, type CatalogDictionary } from './translator.ts'
import { yieldTurn } from '@influencer-stats/runtime/async/yield'

/** Expected memory of an existing row (cells). A larger table grows. */
const CELLS_PER_ROW = 16

/** The catalog into which an import is merged. */
export interface ExistingCatalog extends CatalogDictionary {
  /** The number of prices. */
  readonly size: number
  /** Visits all prices in the order of their rows: the row, and the block and slot of its answer. */
  forEachPrice(visit: (row: PriceRow, block: AnswerBlock, slot: number) => void): Promise<void>
}

/**
 * Returns a draft with the prices of a catalog and those of an import, which replace prices of the catalog. Its
 * dictionary is that of the import, with the terms and words that the remaining prices of the catalog have. The draft
 * shares blocks with the import, which has no copy of its prices as objects. Rows have the order in which their prices
 * were added.
 */
export async function mergeCatalog(existing: ExistingCatalog, imported: CatalogDraft): Promise<CatalogDraft> {
  if (existing.size === 0) return imported
  const { terms, words } = imported
  const rows = imported.buildTable()
  const total = existing.size + imported.size
  const merged = new CatalogDraft(terms, words, total + BLOCK_ROWS, rows.cells + existing.size * CELLS_PER_ROW)
  const translator = new Translator(existing, imported)
  /** By row of the import: 1 if it replaced a price in its row. */
  const isPlaced = new Uint8Array(rows.size)
  await existing.forEachPrice((row, block, slot) => {
    const id = imported.size === 0 ? undefined : findTranslatedId(block.getId(slot), existing.words, words)
    const found = id ? imported.ids.find(id) : -1
    if (found < 0) merged.append(translator.translatePrice(row, block, slot))
    // A price that changes its offering gets a new row.
    else if (translator.translateTerm(row.offering) === rows.getOffering(found)) {
      merged.append(imported.getPrice(found))
      isPlaced[found] = 1
    }
  })
  for (let number = 0; number * BLOCK_ROWS < rows.size; number++) {
    const first = number * BLOCK_ROWS
    let row = first
    while (row < Math.min(rows.size, first + BLOCK_ROWS) && (isPlaced[row] === 1 || !rows.has(row))) row++
    if (row < Math.min(rows.size, first + BLOCK_ROWS))
      merged.appendBlock(imported, number, (one) => isPlaced[one] === 1)
    await yieldTurn()
  }
  return merged
}
