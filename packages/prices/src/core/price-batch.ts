import { AnswerBlock, ROW_BYTES } from './answer-block.ts'
import { AnswerWords, type AnswerWord } from './answer-words.ts'
import { encodeImportedPrice, type CodedPrice, type PriceProblem } from './encode-price.ts'
import type { Price } from './price.ts'
import { RowTable } from './row-table.ts'
import { LearnedTypes, Terms, type Term } from './terms.ts'
import {
  type CharType,
  CHAR_TYPES,
  formatTypeConflict,
  getValueType,
  isOfType,
  type TermValue,
} from './values/term-value.ts'

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
  readonly #types = new LearnedTypes()
  /** The first value of each characteristic and type, with the number of its line. */
  readonly #firstValues = new Map<string, { readonly char: string; readonly value: TermValue; readonly line: number }>()
  /** The prices of the next batch. */
  #prices: CodedPrice[] = []
  #sentTerms = 0
  #sentWords = 0

  /** Adds a price, unless it has a problem. @param line the number of its line */
  put(price: Price, line: number): PriceProblem | undefined {
    const known = this.#terms.list.length
    const coded = encodeImportedPrice(price, { terms: this.#terms, words: this.#words, types: this.#types })
    if ('code' in coded) return coded
    this.#prices.push(coded)
    for (let code = known; code < this.#terms.list.length; code++) {
      const term = this.#terms.list[code]!
      if (term.kind !== 'value') continue
      const key = `${term.char} ${getValueType(term.value)}`
      if (this.#firstValues.has(key)) continue
      const char = (this.#terms.list[term.char] as { text: string }).text
      this.#firstValues.set(key, { char, value: term.value, line })
    }
    return undefined
  }

  /** Returns the number of the first line with a conflict of types; undefined if there is none. @param conflict its detail */
  findLine(conflict: string): number | undefined {
    const lines = Array.from(this.#firstValues.values(), ({ char, value, line }) => {
      const isConflict = (type: CharType) => !isOfType(type, value) && conflict === formatTypeConflict(char, type)
      return CHAR_TYPES.some(isConflict) ? line : Infinity
    })
    const first = Math.min(...lines)
    return first === Infinity ? undefined : first
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
