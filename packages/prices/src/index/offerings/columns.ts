import { LRUCache } from 'lru-cache'
import type { Choice, Query } from '../../core/query.ts'

/** The rows of an offering, each at its place, as far as operators look at them. */
export interface Placed {
  /** How many places there are. */
  readonly count: number
  /** All values that rows have. */
  valueTerms(): Iterable<number>
  /** Visits the place of each row that has a value. */
  eachPlace(term: number, visit: (place: number) => void): void
  /** Whether the row at a place is valid on a day; nothing where no row has dates. */
  readonly validOn: ((place: number, day: number) => boolean) | undefined
}

export type PlaceTest = (place: number) => boolean

/** What a thread keeps of columns (bytes). */
const MOST_BYTES = 16 * 1_024 * 1_024
const NO_VALUE = -1

/**
 * Which value each row of an offering has of a characteristic. Operators are tried on the rows that are left by all else,
 * so they cost by these, however many values the catalog has. A column is made when first asked for.
 */
export class Columns {
  readonly #columns = new LRUCache<string, Int32Array>({
    maxSize: MOST_BYTES,
    sizeCalculation: ({ byteLength }) => byteLength + 1,
  })
  readonly #numbers = new WeakMap<Placed, number>()
  #last = 0

  /** What `choices` and the day ask of a row; nothing where they ask nothing. */
  testOf(placed: Placed, choices: readonly Choice[], at: Query['at']): PlaceTest | undefined {
    const tests = this.testsOf(placed, choices, placed.validOn && at)
    if (tests.length <= 1) return tests[0]
    return (place) => {
      for (let i = 0; i < tests.length; i++) if (!tests[i]!(place)) return false
      return true
    }
  }

  /** The same one by one. */
  testsOf(placed: Placed, choices: readonly Choice[], at: Query['at']): PlaceTest[] {
    const tests = choices.map((choice): PlaceTest => {
      const column = this.#of(placed, choice)
      return (place) => column[place] !== NO_VALUE && choice.accepts(column[place]!)
    })
    const { validOn = () => true } = placed
    return at === undefined ? tests : [...tests, (place) => validOn(place, at)]
  }

  #of(placed: Placed, { char, charOf }: Choice): Int32Array {
    let number = this.#numbers.get(placed)
    if (number === undefined) this.#numbers.set(placed, (number = ++this.#last))
    const key = `${number} ${char}`
    const known = this.#columns.get(key)
    if (known) return known
    const column = new Int32Array(placed.count).fill(NO_VALUE)
    for (const term of placed.valueTerms())
      if (charOf(term) === char) placed.eachPlace(term, (place) => (column[place] = term))
    this.#columns.set(key, column)
    return column
  }
}
