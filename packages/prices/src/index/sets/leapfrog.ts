import { CONTAINER, type FrozenContainers } from './frozen-containers.ts'

const MOST = 128
/** Sets of which the smallest has more values are faster intersected by the library, many values at once. */
const MOST_VALUES = 256
const STRIDE = 8
/** So many sets are sorted, and no more: of the rest most values are never looked at. */
const SORTED = 4
/** Lists with more values than this are first intersected two at a time. */
const LONG = 16
/** So few values are looked for in all other sets at once. */
const FEW = 2
/** So far around a guess a value is looked for. */
const NEAR = 16
/** Most values that are looked for are so near to their guess. */
const MOST_NEAR = 8
/** Units of 16 bits in a line of the processor's cache. */
const LINE = 32

/**
 * Intersects small sorted sets where they lie: whichever set is behind leaps to the first value that is not smaller than
 * where the others are. Begin with `clear`, `add` every set, then `run`.
 */
export class Leapfrog {
  // By set, those with the fewest intervals first.
  readonly #starts = new Int32Array(MOST)
  readonly #intervals = new Int32Array(MOST)
  readonly #cursors = new Int32Array(MOST)
  #count = 0
  #smallest = 0
  #perPlace = 0
  /** Of no meaning: keeps V8 from leaving out what is only fetched. */
  touched = 0
  #units: Uint16Array = new Uint16Array(0)
  #walkable = true
  readonly #marks = new Uint8Array(CONTAINER)
  /** The values that the last `run` found, ascending. */
  readonly found = new Uint16Array(MOST_VALUES)

  /** @param span all values are below */
  clear(containers: FrozenContainers, span: number): void {
    this.#perPlace = 1 / span
    this.#units = containers.units
    this.#count = 0
    this.#smallest = CONTAINER
    this.#walkable = true
  }

  /** @returns false where the set is empty */
  add(containers: FrozenContainers, cell: number): boolean {
    const size = containers.size(cell)
    if (size === 0) return false
    const intervals = containers.intervals(cell)
    if (intervals === 0) this.#walkable = false
    this.#smallest = Math.min(this.#smallest, size)
    const at = this.#count++
    this.#intervals[at] = intervals
    this.#starts[at] = containers.start(cell)
    return true
  }

  /** Whether `run` is the fastest way. */
  get suits(): boolean {
    return this.#walkable && this.#smallest <= MOST_VALUES
  }

  /** Brings the sets with the fewest intervals to the front, in their order. */
  #sort(): void {
    const starts = this.#starts
    const intervals = this.#intervals
    for (let i = 1; i < this.#count; i++) {
      const own = intervals[i]!
      const start = starts[i]!
      const length = Math.abs(own)
      let at = i
      if (at >= SORTED) {
        if (length >= Math.abs(intervals[SORTED - 1]!)) continue
        at = SORTED - 1
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

  /** Finds the values that all sets have. @returns how many there are in `found` */
  run(): number {
    const count = this.#count
    const cursors = this.#cursors
    for (let i = 0; i < count; i++) cursors[i] = 0
    this.#sort()
    if (count > 1 && this.#intervals[0]! > LONG && this.#intervals[1]! > 0) return this.#filter(this.#meet())
    let size = 0
    let value = 0
    for (;;) {
      // All sets so far have the values from `value` to `last`.
      let last = 0xffff
      for (let i = 0; i < count; i++) {
        const at = this.#leap(i, value)
        if (at < 0) return size
        const from = this.#units[at]!
        const to = this.#intervals[i]! < 0 ? from + this.#units[at + 1]! : from
        if (from > value) {
          value = from
          // Those before are behind now.
          if (from > last) break
        }
        if (to < last) last = to
      }
      for (; value <= last; value++) this.found[size++] = value
    }
  }

  /** Finds what the first two sets, both lists, have: by marks, as leaps would be as many as values. @returns how many */
  #meet(): number {
    const units = this.#units
    const marks = this.#marks
    const { found } = this
    if (this.#count > 2) this.#fetch(2)
    const [start, other] = [this.#starts[0]!, this.#starts[1]!]
    const end = start + this.#intervals[0]!
    const otherEnd = other + this.#intervals[1]!
    let size = 0
    for (let at = start; at < end; at++) marks[units[at]!] = 1
    for (let at = other; at < otherEnd; at++) if (marks[units[at]!] === 1) found[size++] = units[at]!
    for (let at = start; at < end; at++) marks[units[at]!] = 0
    return size
  }

  /** Keeps those of the first `size` in `found` that all other sets have. @returns how many are left */
  #filter(size: number): number {
    let left = size
    let set = 2
    for (; set < this.#count && left > FEW; set++) left = this.#keep(set, left)
    // All that the rest will be looked at for is fetched at once, and not one after the other.
    for (let i = 0; i < left; i++)
      for (let next = set; next < this.#count; next++) this.#fetchNear(next, this.found[i]!)
    for (; set < this.#count && left > 0; set++) left = this.#keep(set, left)
    return left
  }

  /** Has the processor bring a set nearer while something else is done. */
  #fetch(set: number): void {
    const units = this.#units
    const start = this.#starts[set]!
    const end = start + Math.abs(this.#intervals[set]!)
    for (let at = start; at < end; at += LINE) this.touched ^= units[at]!
  }

  /** The same for where a value is looked for, which may be two lines. */
  #fetchNear(set: number, value: number): void {
    const units = this.#units
    const guess = this.#guess(set, value)
    const start = this.#starts[set]!
    const last = start + Math.abs(this.#intervals[set]!) - 1
    this.touched ^= units[Math.max(start, guess - MOST_NEAR)]! ^ units[Math.min(last, guess + MOST_NEAR)]!
  }

  #keep(set: number, size: number): number {
    const { found } = this
    let kept = 0
    for (let i = 0; i < size; i++) if (this.#has(set, found[i]!)) found[kept++] = found[i]!
    return kept
  }

  /** Where a value of a list is if they are spread evenly: one line of memory to fetch, where a search fetches three. */
  #guess(set: number, value: number): number {
    return this.#starts[set]! + ((value * this.#perPlace * Math.abs(this.#intervals[set]!)) | 0)
  }

  #has(set: number, value: number): boolean {
    const units = this.#units
    const start = this.#starts[set]!
    const intervals = this.#intervals[set]!
    if (intervals > 0) {
      let at = this.#guess(set, value)
      const least = Math.max(start, at - NEAR)
      const most = Math.min(start + intervals - 1, at + NEAR)
      while (at < most && units[at]! < value) at++
      while (at > least && units[at]! > value) at--
      if (units[at] === value) return true
      if ((at > least || at === start) && (at < most || at === start + intervals - 1)) return false
    }
    const at = this.#leap(set, value)
    return at >= 0 && units[at]! <= value
  }

  /** Where the interval lies that ends at `value` or is the first one after it, or -1. */
  #leap(set: number, value: number): number {
    const units = this.#units
    const start = this.#starts[set]!
    const intervals = this.#intervals[set]!
    let at = this.#cursors[set]!
    if (intervals < 0) {
      const end = -2 * intervals
      const stride = 2 * STRIDE
      while (at + stride < end && units[start + at + stride]! + units[start + at + stride + 1]! < value) at += stride
      while (at < end && units[start + at]! + units[start + at + 1]! < value) at += 2
      this.#cursors[set] = at
      return at < end ? start + at : -1
    }
    while (at + STRIDE < intervals && units[start + at + STRIDE]! < value) at += STRIDE
    while (at < intervals && units[start + at]! < value) at++
    this.#cursors[set] = at
    return at < intervals ? start + at : -1
  }
}
