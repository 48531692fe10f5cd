import type { Row } from '../core/rows.ts'
import { liveOf, typeOf, type CharType, type CharTypes, type Terms } from '../core/terms.ts'

/**
 * How many rows have each term, and so of which type a characteristic is: its type is that of the values that rows have,
 * and not of one that went. Texts that all look like dates are dates.
 */
export class TermCounts {
  readonly #terms: Terms
  readonly #counts: number[] = []
  /** By characteristic, how many rows have a value of each type. */
  readonly #ofType = new Map<number, Record<CharType, number>>()

  constructor(terms: Terms) {
    this.#terms = terms
  }

  /** @param by 1 for a row that came, -1 for one that went */
  add(row: Row | undefined, by: 1 | -1): void {
    if (!row) return
    const terms = this.#terms
    const counts = this.#counts
    for (const term of [row.offering, row.group, row.spec]) counts[term] = (counts[term] ?? 0) + by
    for (const term of row.values) {
      const char = terms.charOf(term)
      let types = this.#ofType.get(char)
      if (!types) this.#ofType.set(char, (types = { string: 0, integer: 0, date: 0 }))
      types[this.#typeOf(term)] += by
      counts[term] = (counts[term] ?? 0) + by
    }
  }

  /** The types of the characteristics that some row has. */
  types(): CharTypes {
    const types: CharTypes = new Map()
    for (const [char, { string, integer, date }] of this.#ofType) {
      if (string > 0) types.set(char, 'string')
      else if (integer > 0) types.set(char, 'integer')
      else if (date > 0) types.set(char, 'date')
    }
    return types
  }

  /** By term: 0 where no row has it; of a characteristic, what `typeIn` reads. */
  live(): Uint8Array<SharedArrayBuffer> {
    const live = new Uint8Array(new SharedArrayBuffer(this.#terms.list.length))
    for (let term = 0; term < live.length; term++) live[term] = (this.#counts[term] ?? 0) > 0 ? 1 : 0
    for (const [char, type] of this.types()) live[char] = liveOf(type)
    return live
  }

  readonly #types: CharType[] = []

  #typeOf(term: number): CharType {
    return (this.#types[term] ??= typeOf(this.#terms.valueOf(term))!)
  }
}
