/** Collects the `limit` lowest of any number of values, plus one more, which shows that there are more than `limit`. */
export class TopN<T> {
  readonly #limit: number
  readonly #compare: (a: T, b: T) => number
  #values: T[] = []
  /** The highest value that can still be in the result; undefined while there are too few values. */
  #last: T | undefined

  constructor(limit: number, compare: (a: T, b: T) => number) {
    this.#limit = limit
    this.#compare = compare
  }

  add(one: T): void {
    if (this.#last !== undefined && this.#compare(one, this.#last) > 0) return
    if (this.#values.push(one) > 2 * (this.#limit + 1)) this.#cut()
  }

  /** Returns the values in order. `more` is true if there were additional values. */
  take(): { readonly list: readonly T[]; readonly more: boolean } {
    this.#cut()
    return { list: this.#values.slice(0, this.#limit), more: this.#values.length > this.#limit }
  }

  #cut(): void {
    this.#values = this.#values.sort(this.#compare).slice(0, this.#limit + 1)
    if (this.#values.length > this.#limit) this.#last = this.#values.at(-1)
  }
}
