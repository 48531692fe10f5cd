import { AnswerBlock, BLOCK_ROWS, toBlockNumber, createSharedBlock, toSlot } from './answer-block.ts'
import { AnswerWords } from './answer-words.ts'
import { encodeImportedPrice, type CodedPrice, type PriceProblem } from './encode-price.ts'
import { IdTable } from './id-table.ts'
import type { Price } from './price.ts'
import { RowTable } from './row-table.ts'
import { LearnedTypes, type Terms } from './terms.ts'

/** A whole catalog under construction. */
export class CatalogDraft {
  readonly terms: Terms
  readonly words: AnswerWords
  readonly blocks: AnswerBlock[] = []
  readonly ids: IdTable
  #table: RowTable
  /** Rows that were put again: the number of their new contents in `#contents`; undefined if the price has another row now. */
  #replaced = new Map<number, number | undefined>()
  #contents = new RowTable()
  readonly #types = new LearnedTypes()

  /**
   * @param expected expected number of prices: a table of ids that must grow takes twice as long
   * @param cells expected memory of the rows (cells)
   */
  constructor(terms: Terms, words = new AnswerWords(), expected?: number, cells?: number) {
    this.terms = terms
    this.words = words
    this.#table = new RowTable(expected, cells)
    this.ids = new IdTable((row) => this.getId(row), expected)
  }

  get size(): number {
    return this.ids.size
  }

  getId(row: number): Uint8Array {
    return this.blocks[toBlockNumber(row)]!.getId(toSlot(row))
  }

  /** Returns the price of a row of `buildTable`. */
  getPrice(row: number): CodedPrice {
    const block = this.blocks[toBlockNumber(row)]!
    const slot = toSlot(row)
    const value = block.getAmount(slot, this.words)
    return { id: block.getId(slot), row: this.#table.get(row)!, value, kind: block.getKind(slot) }
  }

  /** Adds a price, or replaces the one with its id. A replaced price stays in its row unless its offering changes. */
  put(price: Price): PriceProblem | undefined {
    const coded = encodeImportedPrice(price, { terms: this.terms, words: this.words, types: this.#types })
    if ('code' in coded) return coded
    this.add(coded)
    return undefined
  }

  /** Adds or replaces a price like `put`, but without checks. Its terms must be those of this draft's dictionary. */
  add(price: CodedPrice): void {
    const { id, row, value, kind } = price
    const existing = this.ids.find(id)
    if (existing >= 0 && this.#getOffering(existing) !== row.offering) {
      this.#replaced.set(existing, undefined)
      this.ids.delete(id)
    } else if (existing >= 0) {
      this.#replaced.set(existing, this.#contents.size)
      this.#contents.push(row)
      this.blocks[toBlockNumber(existing)]!.set(toSlot(existing), id, value, kind, this.words)
      return
    }
    this.append(price)
  }

  /** Adds a price like `add`. No other row may have its id. */
  append({ id, row, value, kind }: CodedPrice): void {
    const number = this.#table.size
    this.#table.push(row)
    if (number % BLOCK_ROWS === 0) this.blocks.push(new AnswerBlock(createSharedBlock()))
    this.blocks[toBlockNumber(number)]!.set(toSlot(number), id, value, kind, this.words)
    this.ids.add(number, id)
  }

  /**
   * Adds the rows of a block of another draft with the same dictionary, and shares the block. It leaves out some rows,
   * and afterwards only blocks may be added.
   */
  appendBlock(other: CatalogDraft, number: number, isLeftOut: (row: number) => boolean): void {
    const rows = other.buildTable()
    const block = other.blocks[number]!
    while (toSlot(this.#table.size) !== 0) this.#table.push(undefined)
    this.blocks.push(block)
    const first = number * BLOCK_ROWS
    for (let row = first; row < Math.min(rows.size, first + BLOCK_ROWS); row++) {
      if (!rows.has(row) || isLeftOut(row)) {
        this.#table.push(undefined)
        continue
      }
      this.#table.append(rows, row)
      this.ids.add(this.#table.size - 1, block.getId(toSlot(row)))
    }
  }

  #getOffering(row: number): number {
    const content = this.#replaced.get(row)
    return content === undefined ? this.#table.getOffering(row) : this.#contents.getOffering(content)
  }

  /** Returns all rows in their current state. */
  buildTable(): RowTable {
    if (this.#replaced.size === 0) return this.#table
    const table = new RowTable(this.#table.size, this.#table.cells + this.#contents.cells)
    for (let row = 0; row < this.#table.size; row++) {
      const content = this.#replaced.get(row)
      if (content !== undefined) table.append(this.#contents, content)
      else if (this.#replaced.has(row)) table.push(undefined)
      else table.append(this.#table, row)
    }
    this.#replaced = new Map()
    this.#contents = new RowTable()
    return (this.#table = table)
  }

  /** Releases the rows, after they are in a catalog. */
  release(): void {
    this.#replaced = new Map()
    this.#table = this.#contents = new RowTable()
  }
}
