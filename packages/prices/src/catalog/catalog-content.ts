import { AnswerBlock, PAGE_ROWS, toPageNumber } from '../core/answer-block.ts'
import { AnswerWords } from '../core/answer-words.ts'
import { IdTable } from '../core/id-table.ts'
import type { Price } from '../core/price.ts'
import type { PriceRow } from '../core/row-table.ts'
import { Terms } from '../core/terms.ts'
import { findId } from '../core/price-id.ts'
import { forEachInTurns, yieldTurn } from '@influencer-stats/runtime/async/yield'
import type { IndexKind } from '../index/price-index.ts'
import type { CatalogState } from '../messages.ts'
import { NO_META, type CatalogMeta, type GenerationReader, type LoadedCatalog } from '../storage/generation-reader.ts'
import { SharedAnswers, StoredAnswers, type CatalogAnswers, type EditedAnswers } from './catalog-answers.ts'
import { CatalogIndexes } from './catalog-indexes.ts'
import type { RowEdit, RowLookup } from './row-edits.ts'
import { toPrice } from './row-to-price.ts'
import { TermCounts } from './term-counts.ts'

function readId(answers: CatalogAnswers, row: number): Uint8Array {
  const block = answers.getBlock(row)
  return block.getId(block.toSlot(row))
}

/** The data that the main thread holds in memory for the catalog in the database. */
export class CatalogContent implements RowLookup {
  readonly #reader: GenerationReader
  readonly #kinds: ReadonlyMap<string, IndexKind>
  readonly #hasSharedBlocks: boolean
  /** The state that is stored in the database. */
  meta = NO_META
  terms = new Terms()
  words = new AnswerWords()
  counts = new TermCounts(this.terms)
  answers: CatalogAnswers = new SharedAnswers([])
  indexes: CatalogIndexes
  // Created here: a closure created where a catalog is loaded would retain all loaded data, 40 MB.
  readonly #readId = (row: number): Uint8Array => readId(this.answers, row)
  readonly #readPage = (page: number): Uint8Array => this.#reader.readAnswers(this.meta.generation, page)
  ids = new IdTable(this.#readId)

  /** @param hasSharedBlocks true if the answers are in memory that threads share */
  constructor(reader: GenerationReader, indexes: ReadonlyMap<string, IndexKind>, hasSharedBlocks: boolean) {
    this.#reader = reader
    this.#kinds = indexes
    this.#hasSharedBlocks = hasSharedBlocks
    this.indexes = CatalogIndexes.createEmpty(indexes)
  }

  /** The number of rows. */
  get rows(): number {
    return this.meta.rows
  }

  /** The number of prices. */
  get size(): number {
    return this.ids.size
  }

  getState(): CatalogState {
    return {
      generation: this.meta.generation,
      // Terms of changes that are still being written are sent with those changes.
      terms: this.terms.list.slice(0, this.meta.terms),
      words: this.words.list.slice(0, this.meta.kinds),
      usedTerms: this.counts.getUsedTerms(),
      answers: this.answers.shared,
      segments: this.indexes.segments,
      rows: this.indexes.pending,
    }
  }

  getPrice(id: string): Price | undefined {
    const bytes = findId(id, this.words)
    const row = bytes ? this.find(bytes) : -1
    return row < 0 ? undefined : toPrice(row, this.readRow(row), this.answers.getBlock(row), this.terms, this.words)
  }

  /** Returns the row of an id, or -1. */
  find(id: Uint8Array): number {
    return this.ids.find(id)
  }

  readRow(row: number): PriceRow {
    return this.#reader.readRow(this.meta.generation, row)
  }

  /**
   * Applies edits after they are written.
   * @param found the edits of more than a value or kind
   */
  commitEdits(meta: CatalogMeta, found: readonly RowEdit[], answers: EditedAnswers): void {
    this.meta = meta
    // Deleted ids are looked up in the old answers, added ids in the new answers.
    for (const { before, after, id } of found) if (before && !after) this.ids.delete(id)
    this.answers.commitEdits(answers)
    for (const { row, before, after, id } of found) {
      this.counts.add(before, -1)
      this.counts.add(after, 1)
      if (after && !before) this.ids.add(row, id)
    }
  }

  /** Loads a catalog that is in the database. */
  async load(loaded: LoadedCatalog): Promise<void> {
    const { blocks, table } = loaded
    const answers = new SharedAnswers(blocks)
    const idOf = (row: number) => readId(answers, row)
    const ids = new IdTable(idOf, table.size)
    await forEachInTurns(table.size, (row) => {
      if (table.has(row)) ids.add(row, idOf(row))
    })
    await this.replace(loaded, ids)
  }

  async replace({ meta, terms, words, table, blocks }: LoadedCatalog, ids: IdTable): Promise<void> {
    const counts = await TermCounts.fromTable(table, terms)
    const built = await CatalogIndexes.build(this.#kinds, table)
    // No await from here: every reader sees one consistent catalog.
    this.meta = meta
    this.terms = terms
    this.words = words
    this.answers = this.#hasSharedBlocks ? new SharedAnswers(blocks) : new StoredAnswers(this.#readPage)
    this.ids = ids
    ids.setIdReader(this.#readId)
    this.counts = counts
    this.indexes = built
  }

  /** Visits all prices in the order of their rows: the row, the block and slot of its answer, and the number of the row. */
  async forEachPrice(visit: (row: PriceRow, block: AnswerBlock, slot: number, number: number) => void): Promise<void> {
    const { generation, rows } = this.meta
    for (let first = 0; first < rows; first += PAGE_ROWS) {
      const page = this.#reader.readRows(generation, toPageNumber(first))
      const answers = new AnswerBlock(this.#reader.readAnswers(generation, toPageNumber(first)))
      for (let slot = 0; slot < page.size; slot++)
        if (page.has(slot)) visit(page.get(slot)!, answers, slot, first + slot)
      await yieldTurn()
    }
  }
}
