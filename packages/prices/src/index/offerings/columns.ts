import { LRUCache } from 'lru-cache'
import type { Choice, SearchQuery } from '../../core/search-query.ts'

/**
 * The rows of an offering, by ordinal, in the form that conditions with operators need. Ordinals number the rows of an
 * offering from 0.
 */
export interface ColumnSource {
  /** Number of ordinals. */
  readonly count: number
  /** Returns the terms of all values that rows of the offering have. */
  getValueTerms(): Iterable<number>
  /** Visits the ordinal of each row that has the value `term`. */
  forEachOrdinal(term: number, visit: (ordinal: number) => void): void
  /** True if the row at an ordinal is valid at a moment; may be undefined if no row has dates. */
  readonly isValidAt: ((ordinal: number, at: number) => boolean) | undefined
}

export type OrdinalTest = (ordinal: number) => boolean

/** Maximum size of the cached columns of one `Columns` object (bytes). */
const MAX_CACHE_BYTES = 16 * 1_024 * 1_024
const NO_VALUE = -1
/** Memory of a further value of a row (bytes). */
const FURTHER_VALUE_BYTES = 64

/** The values of a characteristic, by ordinal. */
interface Column {
  readonly first: Int32Array
  /** The values after the first, for rows with a list. */
  readonly further: ReadonlyMap<number, readonly number[]>
}

function createChoiceTest({ first, further }: Column, { accepts, isNegated }: Choice): OrdinalTest {
  const isAccepted =
    further.size === 0
      ? (ordinal: number) => accepts(first[ordinal]!)
      : (ordinal: number) => accepts(first[ordinal]!) || (further.get(ordinal)?.some(accepts) ?? false)
  return (ordinal) => first[ordinal] !== NO_VALUE && isAccepted(ordinal) !== isNegated
}

/**
 * Columns: the values of a characteristic for each row of an offering. Operators are tested on the rows that match all
 * other conditions, so their cost depends on these rows, not on the number of values of the catalog. A column is built
 * at its first use.
 */
export class Columns {
  readonly #columns = new LRUCache<string, Column>({
    maxSize: MAX_CACHE_BYTES,
    sizeCalculation: ({ first, further }) => first.byteLength + 1 + FURTHER_VALUE_BYTES * further.size,
  })
  readonly #numbers = new WeakMap<ColumnSource, number>()
  #last = 0

  /** Returns a test of `choices` and of the moment `at`; undefined if there are no such conditions. */
  createTest(source: ColumnSource, choices: readonly Choice[], at: SearchQuery['at']): OrdinalTest | undefined {
    const tests = this.createTests(source, choices, source.isValidAt && at)
    if (tests.length <= 1) return tests[0]
    return (ordinal) => {
      for (let i = 0; i < tests.length; i++) if (!tests[i]!(ordinal)) return false
      return true
    }
  }

  /** Returns the same conditions as separate tests. */
  createTests(source: ColumnSource, choices: readonly Choice[], at: SearchQuery['at']): OrdinalTest[] {
    const tests = choices.map((choice) => createChoiceTest(this.#getColumn(source, choice), choice))
    const { isValidAt = () => true } = source
    return at === undefined ? tests : [...tests, (ordinal) => isValidAt(ordinal, at)]
  }

  #getColumn(source: ColumnSource, { char, getChar }: Choice): Column {
    let number = this.#numbers.get(source)
    if (number === undefined) this.#numbers.set(source, (number = ++this.#last))
    const key = `${number} ${char}`
    const cached = this.#columns.get(key)
    if (cached) return cached
    const first = new Int32Array(source.count).fill(NO_VALUE)
    const further = new Map<number, number[]>()
    for (const term of source.getValueTerms())
      if (getChar(term) === char)
        source.forEachOrdinal(term, (ordinal) => {
          const list = further.get(ordinal)
          if (first[ordinal] === NO_VALUE) first[ordinal] = term
          else if (list) list.push(term)
          else further.set(ordinal, [term])
        })
    const column = { first, further }
    this.#columns.set(key, column)
    return column
  }
}
