import type { CheckedPrice } from './checked-prices.ts'

/** Two prices of which a search cannot choose one, or that repeat each other. */
export interface PriceConflict {
  readonly code: 'REPEATED_PRICE' | 'OVERLAPPING_PRICES'
  readonly price: CheckedPrice
  readonly other: CheckedPrice
}

/** A time: `from` is included, `to` is not. */
interface Interval {
  readonly from: number
  readonly to: number
}

/** Finds the conflicts of prices with the same offering, group, spec, currency and characteristics. */
export class ConflictFinder {
  /** The times at which a default price is valid. */
  readonly #defaults: readonly Interval[]
  /** The prices that last the longest, by their value. */
  readonly #lastByValue = new Map<number, CheckedPrice>()
  readonly #last = new LastPrices()
  #lastDefault: CheckedPrice | undefined

  /** @param defaults the default prices, in the order of their start */
  constructor(defaults: Iterable<Interval>) {
    this.#defaults = mergeIntervals(defaults)
  }

  /**
   * Adds the price with the next start. Returns its conflicts: with at most one earlier price that has the same value,
   * and with at most one that has another value.
   */
  add(price: CheckedPrice): PriceConflict[] {
    const conflicts: PriceConflict[] = []
    const same = this.#lastByValue.get(price.value)
    if (same && price.from < same.to) conflicts.push({ code: 'REPEATED_PRICE', price, other: same })
    if (!same || price.to > same.to) this.#lastByValue.set(price.value, price)
    const other = price.isDefault ? this.#findTie(price) : this.#findOverlap(price)
    if (other) conflicts.push({ code: 'OVERLAPPING_PRICES', price, other })
    if (price.isDefault) this.#lastDefault = price
    else this.#last.add(price)
    return conflicts
  }

  /** Of several default prices a search finds the one with the latest start. */
  #findTie({ from, value }: CheckedPrice): CheckedPrice | undefined {
    const last = this.#lastDefault
    return last?.from === from && last.value !== value ? last : undefined
  }

  #findOverlap({ from, to, value }: CheckedPrice): CheckedPrice | undefined {
    const other = this.#last.getOther(value)
    if (!other || from >= other.to) return undefined
    const end = Math.min(to, other.to)
    return this.#defaults.some((one) => one.from <= from && end <= one.to) ? undefined : other
  }
}

/** The prices that last the longest: the first one, and the first one with another value. */
class LastPrices {
  #first: CheckedPrice | undefined
  #second: CheckedPrice | undefined

  getOther(value: number): CheckedPrice | undefined {
    return this.#first?.value === value ? this.#second : this.#first
  }

  add(price: CheckedPrice): void {
    if (!this.#first || price.value === this.#first.value) {
      if (!this.#first || price.to > this.#first.to) this.#first = price
    } else if (price.to > this.#first.to) {
      this.#second = this.#first
      this.#first = price
    } else if (!this.#second || price.to > this.#second.to) this.#second = price
  }
}

/** Returns the union of intervals that are sorted by their start. */
function mergeIntervals(sorted: Iterable<Interval>): Interval[] {
  const merged: { from: number; to: number }[] = []
  for (const { from, to } of sorted) {
    const last = merged.at(-1)
    if (last && from <= last.to) last.to = Math.max(last.to, to)
    else merged.push({ from, to })
  }
  return merged
}
