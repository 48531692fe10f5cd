import { MAX_CONDITIONS } from './price.ts'

/** No restriction: any term matches. */
export const ANY_TERM = -1

/** A condition with an operator on a characteristic. */
export interface Choice {
  readonly char: number
  /** Returns the characteristic of a value. */
  getChar(term: number): number
  /** True for a value of this characteristic that the condition names. */
  accepts(term: number): boolean
  /** False: a row must have an accepted value. True: a row must have values of the characteristic, and none is accepted. */
  readonly isNegated: boolean
}

/** A condition that an index cannot test, such as one on the value of a price. */
export type RowTest = (row: number) => boolean

/**
 * The conditions of a search in terms of the dictionary. Searches reuse these objects: a new one for each search costs
 * 0.1 us and garbage.
 */
export class SearchQuery {
  offering = ANY_TERM
  group = ANY_TERM
  spec = ANY_TERM
  /** The values that a row must have: the first `count` entries. */
  readonly values = new Int32Array(MAX_CONDITIONS)
  count = 0
  /** Conditions with an operator other than `equals`. A row must match each of them. */
  choices: Choice[] = []
  /** The saturated moment at which the price must be valid; undefined if dates do not matter. */
  at: number | undefined = undefined
  /** An additional condition. Indexes ignore it; `findRow` and `findRows` apply it. */
  test: RowTest | undefined = undefined

  reset(offering: number, group: number, spec: number): void {
    this.offering = offering
    this.group = group
    this.spec = spec
    this.count = 0
    // Allocates a list only if the old one is not empty.
    if (this.choices.length > 0) this.choices = []
    this.at = undefined
    this.test = undefined
  }
}
