import { ID_BYTES } from '../core/answer-block.ts'

const ID_WORDS = ID_BYTES / 4
/** Maximum rows of one sort: more block the event loop. */
const MAX_RUN_ROWS = 1_024

function readId(id: Uint8Array, to: Uint32Array, at: number): void {
  const view = new DataView(id.buffer, id.byteOffset, ID_BYTES)
  for (let word = 0; word < ID_WORDS; word++) to[at + word] = view.getUint32(4 * word)
}

function compare(a: Uint32Array, first: number, b: Uint32Array, second: number): number {
  for (let word = 0; word < ID_WORDS; word++) {
    const difference = a[first + word]! - b[second + word]!
    if (difference !== 0) return difference
  }
  return 0
}

/** Up to `MAX_RUN_ROWS` rows. After `sort` they are in the order of their ids. */
class SortedRun {
  #ids = new Uint32Array(MAX_RUN_ROWS * ID_WORDS)
  #rows = new Uint32Array(MAX_RUN_ROWS)
  #size = 0
  #at = 0

  get isFull(): boolean {
    return this.#size === MAX_RUN_ROWS
  }

  add(id: Uint32Array, row: number): void {
    this.#ids.set(id, this.#size * ID_WORDS)
    this.#rows[this.#size++] = row
  }

  sort(): void {
    const [ids, rows] = [this.#ids, this.#rows]
    const order = Uint32Array.from({ length: this.#size }, (_, i) => i)
    order.sort((a, b) => compare(ids, a * ID_WORDS, ids, b * ID_WORDS))
    this.#ids = new Uint32Array(this.#size * ID_WORDS)
    this.#rows = order.map((from) => rows[from]!)
    order.forEach((from, to) => this.#ids.set(ids.subarray(from * ID_WORDS, (from + 1) * ID_WORDS), to * ID_WORDS))
  }

  /** The row with the lowest remaining id. */
  get row(): number {
    return this.#rows[this.#at]!
  }

  /**
   * Advances to the next row.
   * @returns true if there is one
   */
  next(): boolean {
    return ++this.#at < this.#size
  }

  isAfter(other: SortedRun): boolean {
    return compare(this.#ids, this.#at * ID_WORDS, other.#ids, other.#at * ID_WORDS) > 0
  }
}

/** Sorts rows by their ids, with 20 bytes per row. Neither adding nor reading blocks the event loop for long. */
export class IdOrder {
  readonly #after: Uint32Array | undefined
  readonly #id = new Uint32Array(ID_WORDS)
  readonly #runs: SortedRun[] = []
  #last: SortedRun | undefined
  /** Number of rows. */
  size = 0

  /** @param after only rows with a higher id count */
  constructor(after?: Uint8Array) {
    if (after) readId(after, (this.#after = new Uint32Array(ID_WORDS)), 0)
  }

  add(id: Uint8Array, row: number): void {
    readId(id, this.#id, 0)
    if (this.#after && compare(this.#id, 0, this.#after, 0) <= 0) return
    if (!this.#last) this.#runs.push((this.#last = new SortedRun()))
    this.#last.add(this.#id, row)
    this.size++
    if (this.#last.isFull) this.#close()
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
