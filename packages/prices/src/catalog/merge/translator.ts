import type { AnswerBlock } from '../../core/answer-block.ts'
import type { AnswerWords } from '../../core/answer-words.ts'
import type { CodedPrice } from '../../core/encode-price.ts'
import { translateId } from '../../core/price-id.ts'
import type { PriceRow } from '../../core/row-table.ts'
import type { Terms } from '../../core/terms.ts'

/** The numbers of the names and values of prices, and of the words of their answers. */
export interface CatalogDictionary {
  readonly terms: Terms
  readonly words: AnswerWords
}

/**
 * Converts prices from one dictionary to another. Only terms and words of converted prices are added to the other
 * dictionary. No entry may be added to the first dictionary meanwhile.
 */
export class Translator {
  readonly #from: CatalogDictionary
  readonly #to: CatalogDictionary
  /** By number in the first dictionary: 1 + the number in the other one; 0 if it is not known yet. */
  readonly #terms: Int32Array
  readonly #kinds: Int32Array

  constructor(from: CatalogDictionary, to: CatalogDictionary) {
    this.#from = from
    this.#to = to
    this.#terms = new Int32Array(from.terms.list.length)
    this.#kinds = new Int32Array(from.words.list.length)
  }

  translateTerm(term: number): number {
    if (this.#terms[term] === 0) this.#terms[term] = 1 + this.#addTerm(term)
    return this.#terms[term]! - 1
  }

  /** Returns the price of a row. @param slot the slot of its answer in `block` */
  translatePrice(row: PriceRow, block: AnswerBlock, slot: number): CodedPrice {
    return {
      id: translateId(block.getId(slot), this.#from.words, this.#to.words),
      value: block.getAmount(slot, this.#from.words),
      kind: this.#translateKind(block.getKind(slot)),
      row: {
        ...row,
        offering: this.translateTerm(row.offering),
        group: this.translateTerm(row.group),
        spec: this.translateTerm(row.spec),
        values: Array.from(row.values, (term) => this.translateTerm(term)),
      },
    }
  }

  #translateKind(kind: number): number {
    if (this.#kinds[kind] === 0) this.#kinds[kind] = 1 + this.#to.words.ensure(this.#from.words.list[kind]!)
    return this.#kinds[kind]! - 1
  }

  #addTerm(number: number): number {
    const term = this.#from.terms.list[number]!
    const { terms } = this.#to
    return term.kind === 'value'
      ? terms.ensureValue(this.translateTerm(term.char), term.value)
      : terms.ensureName(term.kind, term.text)
  }
}
