/**
 * Counts by name. `largest` does not sort all names, because names with equal counts are grouped. Names with count 1
 * are not grouped, because there may be very many of them.
 */
export class TopK {
  readonly #counts = new Map<string, number>()
  /** Names by count, for counts above 1. */
  readonly #names = new Map<number, Set<string>>()
  #total = 0

  /** Sum of all counts. */
  get total(): number {
    return this.#total
  }

  getCount(name: string): number {
    return this.#counts.get(name) ?? 0
  }

  /** Increments or decrements the count of a name. */
  add(name: string, change: 1 | -1): void {
    const before = this.getCount(name)
    const after = before + change
    this.#total += change
    this.#removeName(name, before)
    if (after === 0) return void this.#counts.delete(name)
    this.#counts.set(name, after)
    if (after === 1) return
    const names = this.#names.get(after)
    if (names) names.add(name)
    else this.#names.set(after, new Set([name]))
  }

  /** Returns up to `max` names with the largest counts, largest first. */
  largest(max: number): string[] {
    const largest: string[] = []
    // There are few distinct counts, because their sum is at most the total: at most 565 counts for a total of 160,000.
    for (const count of [...this.#names.keys()].sort((a, b) => b - a)) {
      for (const name of this.#names.get(count)!) {
        if (largest.length === max) return largest
        largest.push(name)
      }
    }
    if (largest.length === max) return largest
    for (const [name, count] of this.#counts) {
      if (count === 1 && largest.push(name) === max) break
    }
    return largest
  }

  #removeName(name: string, count: number): void {
    const names = this.#names.get(count)
    names?.delete(name)
    if (names?.size === 0) this.#names.delete(count)
  }
}
