import { MAX_CONDITIONS } from './price.ts'

/** Free: any will do. */
export const ANY_TERM = -1

/** What an operator asks of a characteristic. */
export interface Choice {
  readonly char: number
  /** The characteristic that a value is of. */
  getChar(term: number): number
  /** Whether a value of this characteristic will do. */
  accepts(term: number): boolean
}

/**
 * What a search looks for, in terms of the dictionary. One object serves all searches of a thread: a new one for each
 * would cost 0.1 us and garbage.
 */
export class SearchQuery {
  offering = ANY_TERM
  group = ANY_TERM
  spec = ANY_TERM
  /** The values that a row must have, the first `count` of them. */
  readonly values = new Int32Array(MAX_CONDITIONS)
  count = 0
  /** A row must have a value for each of these. */
  choices: Choice[] = []
  /** The day on which the price must be valid (days since 1970); nothing where dates do not matter. */
  at: number | undefined = undefined

  reset(offering: number, group: number, spec: number): void {
    this.offering = offering
    this.group = group
    this.spec = spec
    this.count = 0
    // Another list only where there was one.
    if (this.choices.length > 0) this.choices = []
    this.at = undefined
  }
}
