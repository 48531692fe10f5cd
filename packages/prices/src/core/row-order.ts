import { ID_BYTES } from './answer-block.ts'
import type { AnswerWords } from './answer-words.ts'
import { compareTexts, normalizeId, packUuid } from './price-id.ts'
import { compareAmounts, type Amount } from './values/amount.ts'

const ID_WORDS = ID_BYTES / 4
/** Maximum rows of one sort: more block the event loop. */
const MAX_RUN_ROWS = 1_024
const TEXT_MARK = 0xffff_ffff

function readId(id: Uint8Array, to: Uint32Array, at: number): void {
  const view = new DataView(id.buffer, id.byteOffset, ID_BYTES)
  for (let word = 0; word < ID_WORDS; word++) to[at + word] = view.getUint32(4 * word)
}

/** True if an id is a text of the answer words: then its first word is the number of the text. */
const isText = (ids: Uint32Array, at: number): boolean =>
  ids[at + 1] === TEXT_MARK && ids[at + 2] === TEXT_MARK && ids[at + 3] === TEXT_MARK

/** Orders ids: UUIDs by their bytes, then other texts by their bytes in UTF-8. */
function compareIds(a: Uint32Array, first: number, b: Uint32Array, second: number, words: AnswerWords): number {
  const [isAText, isBText] = [isText(a, first), isText(b, second)]
  if (isAText && isBText) return compareTexts(words.getText(a[first]!), words.getText(b[second]!))
  if (isAText !== isBText) return isAText ? 1 : -1
  for (let word = 0; word < ID_WORDS; word++) {
    const difference = a[first + word]! - b[second + word]!
    if (difference !== 0) return difference
  }
  return 0
}

/** An order by value. Rows of the same value are in the order of their ids. */
export interface ValueSort {
  readonly isDescending: boolean
  getAmount(row: number): Amount
  /** Only rows that come after this value count, and rows of this value by their ids. */
  readonly after?: Amount | undefined
}

/** Compares rows by their values, exactly, then by their ids. */
class RowComparer {
  readonly #words: AnswerWords
  readonly #sort: ValueSort | undefined
  readonly #sign: 1 | -1
  /** True if the double of a value can differ from the value. */
  #hasTexts = false

  constructor(words: AnswerWords, sort: ValueSort | undefined) {
    this.#words = words
    this.#sort = sort
    this.#sign = sort?.isDescending ? -1 : 1
  }

  /** Returns a number that orders values, except those of equal doubles. */
  toKey(amount: Amount): number {
    if (typeof amount === 'string') this.#hasTexts = true
    return this.#sign * Number(amount)
  }

  compareValues(a: Amount, b: Amount): number {
    return this.#sign * compareAmounts(a, b)
  }

  compare(a: SortedRun, first: number, b: SortedRun, second: number): number {
    if (a.keys && b.keys) {
      const difference = a.keys[first]! - b.keys[second]!
      if (difference !== 0) return difference
      const exact = this.#hasTexts ? this.#compareRows(a.rows[first]!, b.rows[second]!) : 0
      if (exact !== 0) return exact
    }
    return compareIds(a.ids, first * ID_WORDS, b.ids, second * ID_WORDS, this.#words)
  }

  #compareRows(a: number, b: number): number {
    return this.compareValues(this.#sort!.getAmount(a), this.#sort!.getAmount(b))
  }
}

/** Up to `MAX_RUN_ROWS` rows. After `sort` they are in order. */
class SortedRun {
  readonly #comparer: RowComparer
  ids = new Uint32Array(MAX_RUN_ROWS * ID_WORDS)
  rows = new Uint32Array(MAX_RUN_ROWS)
  /** By row the key of its value; undefined if rows are ordered by their ids. */
  keys: Float64Array | undefined
  #size = 0
  #at = 0

  constructor(comparer: RowComparer, hasKeys: boolean) {
    this.#comparer = comparer
    this.keys = hasKeys ? new Float64Array(MAX_RUN_ROWS) : undefined
  }

  get isFull(): boolean {
    return this.#size === MAX_RUN_ROWS
  }

  add(id: Uint32Array, row: number, key: number): void {
    this.ids.set(id, this.#size * ID_WORDS)
    if (this.keys) this.keys[this.#size] = key
    this.rows[this.#size++] = row
  }

  sort(): void {
    const { ids, rows, keys } = this
    const order = Uint32Array.from({ length: this.#size }, (_, i) => i)
    order.sort((a, b) => this.#comparer.compare(this, a, this, b))
    this.ids = new Uint32Array(this.#size * ID_WORDS)
    this.rows = order.map((from) => rows[from]!)
    this.keys = keys && Float64Array.from(order, (from) => keys[from]!)
    order.forEach((from, to) => this.ids.set(ids.subarray(from * ID_WORDS, (from + 1) * ID_WORDS), to * ID_WORDS))
  }

  /** The first of the remaining rows. */
  get row(): number {
    return this.rows[this.#at]!
  }

  /**
   * Advances to the next row.
   * @returns true if there is one
   */
  next(): boolean {
    return ++this.#at < this.#size
  }

  isAfter(other: SortedRun): boolean {
    return this.#comparer.compare(this, this.#at, other, other.#at) > 0
  }
}

/**
 * Sorts rows by their ids, or by their values, with 20 or 28 bytes per row. Neither adding nor reading blocks the event
 * loop for long.
 */
export class RowOrder {
  readonly #words: AnswerWords
  readonly #after: Uint32Array | undefined
  /** The text of an id that is not a UUID, after which the order begins. */
  readonly #afterText: string | undefined
  readonly #sort: ValueSort | undefined
  readonly #comparer: RowComparer
  readonly #id = new Uint32Array(ID_WORDS)
  readonly #runs: SortedRun[] = []
  #last: SortedRun | undefined
  /** Number of rows. */
  size = 0

  /** @param after only rows with a higher id count; with `sort.after`, only among rows of this value */
  constructor(words: AnswerWords, after?: string, sort?: ValueSort) {
    this.#words = words
    this.#sort = sort
    this.#comparer = new RowComparer(words, sort)
    if (after === undefined) return
    const uuid = packUuid(after)
    if (uuid) readId(uuid, (this.#after = new Uint32Array(ID_WORDS)), 0)
    else this.#afterText = normalizeId(after)
  }

  add(id: Uint8Array, row: number): void {
    readId(id, this.#id, 0)
    const amount = this.#sort ? this.#sort.getAmount(row) : 0
    if (!this.#isAfterStart(amount)) return
    if (!this.#last) this.#runs.push((this.#last = new SortedRun(this.#comparer, this.#sort !== undefined)))
    this.#last.add(this.#id, row, this.#comparer.toKey(amount))
    this.size++
    if (this.#last.isFull) this.#close()
  }

  #isAfterStart(amount: Amount): boolean {
    if (this.#sort?.after !== undefined) {
      const difference = this.#comparer.compareValues(amount, this.#sort.after)
      if (difference !== 0) return difference > 0
    }
    if (this.#after) return compareIds(this.#id, 0, this.#after, 0, this.#words) > 0
    if (this.#afterText === undefined) return true
    return isText(this.#id, 0) && compareTexts(this.#words.getText(this.#id[0]!), this.#afterText) > 0
  }

  #close(): void {
    this.#last?.sort()
    this.#last = undefined
  }

  /** Yields the rows. It can be called once. */
  *takeRows(): Generator<number> {
    this.#close()
    // A binary heap: the run at `i` is not after the runs at `2 * i + 1` and `2 * i + 2`.
    const heap = this.#runs.sort((a, b) => (a.isAfter(b) ? 1 : -1))
    while (heap.length > 0) {
      const first = heap[0]!
      yield first.row
      if (!first.next()) {
        const last = heap.pop()!
        if (heap.length === 0) return
        heap[0] = last
      }
      siftDown(heap)
    }
  }
}

/** Moves the first run of a heap to its position. */
function siftDown(heap: SortedRun[]): void {
  for (let at = 0; ;) {
    let lowest = at
    for (const child of [2 * at + 1, 2 * at + 2])
      if (child < heap.length && heap[lowest]!.isAfter(heap[child]!)) lowest = child
    if (lowest === at) return
    ;[heap[at], heap[lowest]] = [heap[lowest]!, heap[at]!]
    at = lowest
  }
}
