import { AnswerBlock, BLOCK_ROWS, toBlockNumber, createSharedBlock, toSlot, AnswerKinds } from './answer-block.ts'
import { encodeImportedPrice, type CodedPrice, type PriceProblem } from './encode-price.ts'
import { IdTable } from './id-table.ts'
import type { Price } from './price.ts'
import { RowTable, type PriceRow } from './row-table.ts'
import { LearnedTypes, type Terms } from './terms.ts'

/** A whole catalog under construction. */
export class CatalogDraft {
  readonly terms: Terms
  readonly kinds: AnswerKinds
  readonly blocks: AnswerBlock[] = []
  readonly ids: IdTable
  readonly #table = new RowTable()
  /** New contents of rows that were put again; undefined if the price has another row now. */
  readonly #replaced = new Map<number, PriceRow | undefined>()
  readonly #types = new LearnedTypes(new Map())

  /** @param expected expected number of prices: a table of ids that must grow takes twice as long */
  constructor(terms: Terms, kinds = new AnswerKinds(), expected?: number) {
    this.terms = terms
    this.kinds = kinds
    this.ids = new IdTable((row) => this.getId(row), expected)
  }

  get size(): number {
    return this.ids.size
  }

  getId(row: number): Uint8Array {
    return this.blocks[toBlockNumber(row)]!.getId(toSlot(row))
  }

  /** Adds a price, or replaces the one with its id. A replaced price stays in its row unless its offering changes. */
  put(price: Price): PriceProblem | undefined {
    const coded = encodeImportedPrice(price, { terms: this.terms, kinds: this.kinds, types: this.#types })
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
      this.#replaced.set(existing, row)
      this.blocks[toBlockNumber(existing)]!.set(toSlot(existing), id, value, kind)
      return
    }
    this.append(price)
  }

  /** Adds a price like `add`. No other row may have its id. */
  append({ id, row, value, kind }: CodedPrice): void {
    const number = this.#table.size
    this.#table.push(row)
    if (number % BLOCK_ROWS === 0) this.blocks.push(new AnswerBlock(createSharedBlock()))
    this.blocks[toBlockNumber(number)]!.set(toSlot(number), id, value, kind)
    this.ids.add(number, id)
  }

  #getOffering(row: number): number {
    return (this.#replaced.get(row) ?? this.#table.get(row))!.offering
  }

  /** Returns all rows in their current state. */
  buildTable(): RowTable {
    if (this.#replaced.size === 0) return this.#table
    const { size } = this.#table
    const table = new RowTable(size)
    for (let row = 0; row < size; row++)
      table.push(this.#replaced.has(row) ? this.#replaced.get(row) : this.#table.get(row))
    return table
  }
}
