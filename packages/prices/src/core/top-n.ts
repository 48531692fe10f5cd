/** Keeps the lowest of what it is offered, however much that is: so many, and one more where there are more. */
export class TopN<T> {
  readonly #limit: number
  readonly #compare: (a: T, b: T) => number
  #values: T[] = []
  /** The highest of those that count, once there are so many. */
  #last: T | undefined

  constructor(limit: number, compare: (a: T, b: T) => number) {
    this.#limit = limit
    this.#compare = compare
  }

  add(one: T): void {
    if (this.#last !== undefined && this.#compare(one, this.#last) > 0) return
    if (this.#values.push(one) > 2 * (this.#limit + 1)) this.#cut()
  }

  /** In their order; `more` says whether others were offered. */
  take(): { readonly list: readonly T[]; readonly more: boolean } {
    this.#cut()
    return { list: this.#values.slice(0, this.#limit), more: this.#values.length > this.#limit }
  }

  #cut(): void {
    this.#values = this.#values.sort(this.#compare).slice(0, this.#limit + 1)
    if (this.#values.length > this.#limit) this.#last = this.#values.at(-1)
  }
}
