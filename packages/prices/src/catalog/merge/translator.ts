import type { AnswerBlock, AnswerKinds } from '../../core/answer-block.ts'
import type { CodedPrice } from '../../core/encode-price.ts'
import type { PriceRow } from '../../core/row-table.ts'
import type { Terms } from '../../core/terms.ts'

/** The numbers of the names, values and answer kinds of prices. */
export interface CatalogDictionary {
  readonly terms: Terms
  readonly kinds: AnswerKinds
}

/**
 * Converts prices from one dictionary to another. Only terms and kinds of converted prices are added to the other
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
    this.#kinds = new Int32Array(from.kinds.list.length)
  }

  translateTerm(term: number): number {
    if (this.#terms[term] === 0) this.#terms[term] = 1 + this.#addTerm(term)
    return this.#terms[term]! - 1
  }

  /** Returns the price of a row. @param slot the slot of its answer in `block` */
  translatePrice(row: PriceRow, block: AnswerBlock, slot: number): CodedPrice {
    return {
      id: block.getId(slot),
      value: block.getValue(slot),
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
    if (this.#kinds[kind] === 0) {
      const { spec, currency } = this.#from.kinds.list[kind]!
      this.#kinds[kind] = 1 + this.#to.kinds.ensureCode(spec, currency)
    }
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
