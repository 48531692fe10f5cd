/** Keeps the lowest of what it is offered, however much that is: so many, and one more where there are more. */
export class Lowest<T> {
  readonly #most: number
  readonly #compare: (a: T, b: T) => number
  #kept: T[] = []
  /** The highest of those that count, once there are so many. */
  #last: T | undefined

  constructor(most: number, compare: (a: T, b: T) => number) {
    this.#most = most
    this.#compare = compare
  }

  offer(one: T): void {
    if (this.#last !== undefined && this.#compare(one, this.#last) > 0) return
    if (this.#kept.push(one) > 2 * (this.#most + 1)) this.#cut()
  }

  /** In their order; `more` says whether others were offered. */
  take(): { readonly list: readonly T[]; readonly more: boolean } {
    this.#cut()
    return { list: this.#kept.slice(0, this.#most), more: this.#kept.length > this.#most }
  }

  #cut(): void {
    this.#kept = this.#kept.sort(this.#compare).slice(0, this.#most + 1)
    if (this.#kept.length > this.#most) this.#last = this.#kept.at(-1)
  }
}
