/** Distinct lengths of texts. A length stays until it was deleted as often as it was added. */
export class LengthSet {
  readonly #counts = new Map<number, number>()
  #sorted: number[] = []

  add(length: number): void {
    const count = this.#counts.get(length) ?? 0
    this.#counts.set(length, count + 1)
    if (count === 0) this.#sort()
  }

  delete(length: number): void {
    const count = this.#counts.get(length)!
    if (count > 1) return void this.#counts.set(length, count - 1)
    this.#counts.delete(length)
    this.#sort()
  }

  /** Returns the lengths up to `max`, in ascending order. */
  getUpTo(max: number): readonly number[] {
    const end = this.#sorted.findIndex((length) => length > max)
    return end < 0 ? this.#sorted : this.#sorted.slice(0, end)
  }

  #sort(): void {
    this.#sorted = [...this.#counts.keys()].sort((a, b) => a - b)
  }
}
