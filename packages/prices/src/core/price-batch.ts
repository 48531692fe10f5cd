import { AnswerBlock, ROW_BYTES } from './answer-block.ts'
import { AnswerWords, type AnswerWord } from './answer-words.ts'
import { encodeImportedPrice, type CodedPrice, type PriceProblem } from './encode-price.ts'
import type { Price } from './price.ts'
import { RowTable } from './row-table.ts'
import { LearnedTypes, Terms, type Term } from './terms.ts'
import type { CharType } from './values/term-value.ts'

/** Valid prices of an import, in a form that costs little to send to another thread and to add to a draft. */
export interface PriceBatch {
  /** The terms and words that earlier batches of the import do not contain. */
  readonly terms: readonly Term[]
  readonly words: readonly AnswerWord[]
  /** The rows, as `RowTable` encodes them. */
  readonly rows: Uint8Array
  /** The answers, as in an `AnswerBlock`. */
  readonly answers: Uint8Array
}

/** Encodes the prices of one import into batches. */
export class PriceBatchEncoder {
  readonly #terms = new Terms()
  readonly #words = new AnswerWords()
  readonly #types: LearnedTypes
  /** The prices of the next batch. */
  #prices: CodedPrice[] = []
  #sentTerms = 0
  #sentWords = 0

  /** @param types the types of known characteristics, by their names */
  constructor(types: ReadonlyMap<string, CharType>) {
    const codes = Array.from(types, ([char, type]) => [this.#terms.ensureName('char', char), type] as const)
    this.#types = new LearnedTypes(new Map(codes))
  }

  /** Adds a price, unless it has a problem. */
  put(price: Price): PriceProblem | undefined {
    const coded = encodeImportedPrice(price, { terms: this.#terms, words: this.#words, types: this.#types })
    if ('code' in coded) return coded
    this.#prices.push(coded)
    return undefined
  }

  /** Returns the prices since the last call. */
  take(): PriceBatch {
    const prices = this.#prices
    this.#prices = []
    const table = new RowTable(prices.length + 1)
    const answers = new AnswerBlock(new Uint8Array(prices.length * ROW_BYTES))
    for (const [slot, { id, row, value, kind }] of prices.entries()) {
      table.push(row)
      answers.set(slot, id, value, kind, this.#words)
    }
    const terms = this.#terms.list.slice(this.#sentTerms)
    const words = this.#words.list.slice(this.#sentWords)
    this.#sentTerms += terms.length
    this.#sentWords += words.length
    return { terms, words, rows: table.encode(0, table.size), answers: answers.bytes }
  }
}

/** Yields the prices of a batch. @param words the words of this batch and of all earlier ones */
export function* decodePriceBatch({ rows, answers }: PriceBatch, words: AnswerWords): Generator<CodedPrice> {
  const table = new RowTable(answers.length / ROW_BYTES + 1, rows.length / Int32Array.BYTES_PER_ELEMENT + 1)
  table.decode(rows)
  const block = new AnswerBlock(answers)
  for (let i = 0; i < table.size; i++)
    yield { id: block.getId(i), row: table.get(i)!, value: block.getAmount(i, words), kind: block.getKind(i) }
}
