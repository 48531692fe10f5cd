import { CONTAINER_VALUES, type FrozenContainers } from './frozen-containers.ts'

/** Maximum number of sets of one search. */
const MAX_SETS = 128
/** Maximum size of the smallest set. The library intersects larger sets faster, many values at a time. */
const MAX_VALUES = 256
/** Number of intervals that a leap skips at once. */
const STRIDE_UNITS = 8
/** Number of sets that are sorted: the values of the other sets are rarely read. */
const SORTED_SETS = 4
/** If the two smallest sets are lists with more values than this, they are intersected before all others. */
const LONG_LIST_VALUES = 16
/** Maximum number of remaining values that are prefetched in all other sets at once. */
const MAX_PREFETCHED_VALUES = 2
/** Distance from a guess within which a value is looked up. Beyond it, `#leap` finds the value. */
const GUESS_RADIUS = 16
/** Distance from a guess within which values usually are. */
const PREFETCH_RADIUS = 8
/** Units of 16 bits in a cache line. */
const CACHE_LINE_UNITS = 32

/**
 * Intersects small sorted sets without copying them. A set consists of intervals: runs, or single values. A set that lags
 * leaps to its first value that is not below the current value of the other sets. Usage: `clear`, `add` every set, then
 * `run`.
 */
export class Leapfrog {
  // By set, the sets with the fewest intervals first.
  readonly #starts = new Int32Array(MAX_SETS)
  readonly #intervals = new Int32Array(MAX_SETS)
  readonly #cursors = new Int32Array(MAX_SETS)
  #count = 0
  #smallest = 0
  #inverseSpan = 0
  /** An unused value that prevents V8 from removing the prefetch reads. */
  prefetchSink = 0
  #units: Uint16Array = new Uint16Array(0)
  /** False if a set is a bitset, which has no intervals. */
  #walkable = true
  readonly #marks = new Uint8Array(CONTAINER_VALUES)
  /** The values that the last `run` found, ascending. */
  readonly found = new Uint16Array(MAX_VALUES)

  /** @param span upper limit of all values (exclusive) */
  clear(containers: FrozenContainers, span: number): void {
    this.#inverseSpan = 1 / span
    this.#units = containers.units
    this.#count = 0
    this.#smallest = CONTAINER_VALUES
    this.#walkable = true
  }

  /** Adds a set. @returns false if the set is empty */
  add(containers: FrozenContainers, cell: number): boolean {
    const size = containers.getSize(cell)
    if (size === 0) return false
    const intervals = containers.getIntervals(cell)
    if (intervals === 0) this.#walkable = false
    this.#smallest = Math.min(this.#smallest, size)
    const at = this.#count++
    this.#intervals[at] = intervals
    this.#starts[at] = containers.getStart(cell)
    return true
  }

  /** True if `run` is possible and the fastest way. */
  get isSuitable(): boolean {
    return this.#walkable && this.#smallest <= MAX_VALUES
  }

  /** Moves the `SORTED_SETS` sets with the fewest intervals to the front, in ascending order. */
  #sort(): void {
    const starts = this.#starts
    const intervals = this.#intervals
    for (let i = 1; i < this.#count; i++) {
      const own = intervals[i]!
      const start = starts[i]!
      const length = Math.abs(own)
      let at = i
      if (at >= SORTED_SETS) {
        if (length >= Math.abs(intervals[SORTED_SETS - 1]!)) continue
        at = SORTED_SETS - 1
        intervals[i] = intervals[at]!
        starts[i] = starts[at]!
      }
      for (; at > 0 && Math.abs(intervals[at - 1]!) > length; at--) {
        intervals[at] = intervals[at - 1]!
        starts[at] = starts[at - 1]!
      }
      intervals[at] = own
      starts[at] = start
    }
  }

  /**
   * Finds the values that all sets have.
   * @returns the number of values in `found`
   */
  run(): number {
    const count = this.#count
    const cursors = this.#cursors
    for (let i = 0; i < count; i++) cursors[i] = 0
    this.#sort()
    if (count > 1 && this.#intervals[0]! > LONG_LIST_VALUES && this.#intervals[1]! > 0)
      return this.#filter(this.#intersectLists())
    let size = 0
    let value = 0
    for (;;) {
      // All sets up to here have the values from `value` to `last`.
      let last = 0xffff
      for (let i = 0; i < count; i++) {
        const at = this.#leap(i, value)
        if (at < 0) return size
        const from = this.#units[at]!
        const to = this.#intervals[i]! < 0 ? from + this.#units[at + 1]! : from
        if (from > value) {
          value = from
          // The preceding sets now lag.
          if (from > last) break
        }
        if (to < last) last = to
      }
      for (; value <= last; value++) this.found[size++] = value
    }
  }

  /**
   * Intersects the first two sets, both lists, by marks: leaps would need one step per value.
   * @returns the number of values
   */
  #intersectLists(): number {
    const units = this.#units
    const marks = this.#marks
    const { found } = this
    if (this.#count > 2) this.#prefetch(2)
    const [start, other] = [this.#starts[0]!, this.#starts[1]!]
    const end = start + this.#intervals[0]!
    const otherEnd = other + this.#intervals[1]!
    let size = 0
    for (let at = start; at < end; at++) marks[units[at]!] = 1
    for (let at = other; at < otherEnd; at++) if (marks[units[at]!] === 1) found[size++] = units[at]!
    for (let at = start; at < end; at++) marks[units[at]!] = 0
    return size
  }

  /**
   * Filters the first `size` values of `found` by all other sets.
   * @returns the number of remaining values
   */
  #filter(size: number): number {
    let left = size
    let set = 2
    for (; set < this.#count && left > MAX_PREFETCHED_VALUES; set++) left = this.#filterBySet(set, left)
    // Prefetches all memory of the remaining lookups together instead of one by one.
    for (let i = 0; i < left; i++)
      for (let next = set; next < this.#count; next++) this.#prefetchNear(next, this.found[i]!)
    for (; set < this.#count && left > 0; set++) left = this.#filterBySet(set, left)
    return left
  }

  /** Prefetches a set into the processor's cache during other work. */
  #prefetch(set: number): void {
    const units = this.#units
    const start = this.#starts[set]!
    const end = start + Math.abs(this.#intervals[set]!)
    for (let at = start; at < end; at += CACHE_LINE_UNITS) this.prefetchSink ^= units[at]!
  }

  /** Prefetches the expected location of a value, which may be in two cache lines. */
  #prefetchNear(set: number, value: number): void {
    const units = this.#units
    const guess = this.#guess(set, value)
    const start = this.#starts[set]!
    const last = start + Math.abs(this.#intervals[set]!) - 1
    this.prefetchSink ^=
      units[Math.max(start, guess - PREFETCH_RADIUS)]! ^ units[Math.min(last, guess + PREFETCH_RADIUS)]!
  }

  #filterBySet(set: number, size: number): number {
    const { found } = this
    let count = 0
    for (let i = 0; i < size; i++) if (this.#has(set, found[i]!)) found[count++] = found[i]!
    return count
  }

  /**
   * Returns the location that a value has if values are spread evenly. A lookup near it fetches one cache line; a binary
   * search fetches three.
   */
  #guess(set: number, value: number): number {
    return this.#starts[set]! + ((value * this.#inverseSpan * Math.abs(this.#intervals[set]!)) | 0)
  }

  #has(set: number, value: number): boolean {
    const units = this.#units
    const start = this.#starts[set]!
    const intervals = this.#intervals[set]!
    if (intervals > 0) {
      let at = this.#guess(set, value)
      const low = Math.max(start, at - GUESS_RADIUS)
      const high = Math.min(start + intervals - 1, at + GUESS_RADIUS)
      while (at < high && units[at]! < value) at++
      while (at > low && units[at]! > value) at--
      if (units[at] === value) return true
      if ((at > low || at === start) && (at < high || at === start + intervals - 1)) return false
    }
    const at = this.#leap(set, value)
    return at >= 0 && units[at]! <= value
  }

  /** Returns the location of the first interval that ends at `value` or after it, or -1. */
  #leap(set: number, value: number): number {
    const units = this.#units
    const start = this.#starts[set]!
    const intervals = this.#intervals[set]!
    let at = this.#cursors[set]!
    if (intervals < 0) {
      const end = -2 * intervals
      const stride = 2 * STRIDE_UNITS
      while (at + stride < end && units[start + at + stride]! + units[start + at + stride + 1]! < value) at += stride
      while (at < end && units[start + at]! + units[start + at + 1]! < value) at += 2
      this.#cursors[set] = at
      return at < end ? start + at : -1
    }
    while (at + STRIDE_UNITS < intervals && units[start + at + STRIDE_UNITS]! < value) at += STRIDE_UNITS
    while (at < intervals && units[start + at]! < value) at++
    this.#cursors[set] = at
    return at < intervals ? start + at : -1
  }
}
