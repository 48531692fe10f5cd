import { MAX_CONDITIONS } from './price.ts'

/** Free: any will do. */
export const FREE = -1

/**
 * What a search looks for, in terms of the dictionary. One object serves all searches of a thread: a new one for each
 * would cost 0.1 us and garbage.
 */
export class Query {
  offering = FREE
  group = FREE
  spec = FREE
  /** The values that a row must have, the first `count` of them. */
  readonly values = new Int32Array(MAX_CONDITIONS)
  count = 0
  /** Of each of these lists a row must have one value. */
  any: Int32Array[] = []
  /** The day on which the price must be valid (days since 1970); nothing where dates do not matter. */
  at: number | undefined = undefined

  reset(offering: number, group: number, spec: number): void {
    this.offering = offering
    this.group = group
    this.spec = spec
    this.count = 0
    // Another list only where there was one.
    if (this.any.length > 0) this.any = []
    this.at = undefined
  }
}
