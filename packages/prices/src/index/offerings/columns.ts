import { LRUCache } from 'lru-cache'
import type { Choice, SearchQuery } from '../../core/search-query.ts'

/** The rows of an offering, each at its place, as far as operators look at them. */
export interface ColumnSource {
  /** How many places there are. */
  readonly count: number
  /** All values that rows have. */
  getValueTerms(): Iterable<number>
  /** Visits the place of each row that has a value. */
  forEachOrdinal(term: number, visit: (ordinal: number) => void): void
  /** Whether the row at a place is valid on a day; nothing where no row has dates. */
  readonly isValidOn: ((ordinal: number, day: number) => boolean) | undefined
}

export type OrdinalTest = (ordinal: number) => boolean

/** What a thread keeps of columns (bytes). */
const MAX_CACHE_BYTES = 16 * 1_024 * 1_024
const NO_VALUE = -1

/**
 * Which value each row of an offering has of a characteristic. Operators are tried on the rows that are left by all else,
 * so they cost by these, however many values the catalog has. A column is made when first asked for.
 */
export class Columns {
  readonly #columns = new LRUCache<string, Int32Array>({
    maxSize: MAX_CACHE_BYTES,
    sizeCalculation: ({ byteLength }) => byteLength + 1,
  })
  readonly #numbers = new WeakMap<ColumnSource, number>()
  #last = 0

  /** What `choices` and the day ask of a row; nothing where they ask nothing. */
  createTest(source: ColumnSource, choices: readonly Choice[], at: SearchQuery['at']): OrdinalTest | undefined {
    const tests = this.createTests(source, choices, source.isValidOn && at)
    if (tests.length <= 1) return tests[0]
    return (ordinal) => {
      for (let i = 0; i < tests.length; i++) if (!tests[i]!(ordinal)) return false
      return true
    }
  }

  /** The same one by one. */
  createTests(source: ColumnSource, choices: readonly Choice[], at: SearchQuery['at']): OrdinalTest[] {
    const tests = choices.map((choice): OrdinalTest => {
      const column = this.#getColumn(source, choice)
      return (ordinal) => column[ordinal] !== NO_VALUE && choice.accepts(column[ordinal]!)
    })
    const { isValidOn: validOn = () => true } = source
    return at === undefined ? tests : [...tests, (ordinal) => validOn(ordinal, at)]
  }

  #getColumn(source: ColumnSource, { char, getChar: charOf }: Choice): Int32Array {
    let number = this.#numbers.get(source)
    if (number === undefined) this.#numbers.set(source, (number = ++this.#last))
    const key = `${number} ${char}`
    const cached = this.#columns.get(key)
    if (cached) return cached
    const column = new Int32Array(source.count).fill(NO_VALUE)
    for (const term of source.getValueTerms())
      if (charOf(term) === char) source.forEachOrdinal(term, (ordinal) => (column[ordinal] = term))
    this.#columns.set(key, column)
    return column
  }
}
