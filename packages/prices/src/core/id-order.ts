import { ID_BYTES } from './answers.ts'

const WORDS = ID_BYTES / 4
/** So many rows are sorted at once: more would hold the loop. */
const RUN = 1_024

function readId(id: Uint8Array, to: Uint32Array, at: number): void {
  const view = new DataView(id.buffer, id.byteOffset, ID_BYTES)
  for (let word = 0; word < WORDS; word++) to[at + word] = view.getUint32(4 * word)
}

function compare(a: Uint32Array, first: number, b: Uint32Array, second: number): number {
  for (let word = 0; word < WORDS; word++) {
    const difference = a[first + word]! - b[second + word]!
    if (difference !== 0) return difference
  }
  return 0
}

/** Some rows in the order of their ids. */
class Run {
  #ids = new Uint32Array(RUN * WORDS)
  #rows = new Uint32Array(RUN)
  #size = 0
  #at = 0

  get isFull(): boolean {
    return this.#size === RUN
  }

  add(id: Uint32Array, row: number): void {
    this.#ids.set(id, this.#size * WORDS)
    this.#rows[this.#size++] = row
  }

  sort(): void {
    const [ids, rows] = [this.#ids, this.#rows]
    const order = Uint32Array.from({ length: this.#size }, (_, i) => i)
    order.sort((a, b) => compare(ids, a * WORDS, ids, b * WORDS))
    this.#ids = new Uint32Array(this.#size * WORDS)
    this.#rows = order.map((from) => rows[from]!)
    order.forEach((from, to) => this.#ids.set(ids.subarray(from * WORDS, (from + 1) * WORDS), to * WORDS))
  }

  /** The row of the lowest id that is left. */
  get row(): number {
    return this.#rows[this.#at]!
  }

  /** Goes on to the next row. @returns whether there is one */
  next(): boolean {
    return ++this.#at < this.#size
  }

  isBehind(other: Run): boolean {
    return compare(this.#ids, this.#at * WORDS, other.#ids, other.#at * WORDS) > 0
  }
}

/** Puts rows in the order of their ids: 20 bytes a row. It never holds the loop for long, neither at adding nor at reading. */
export class IdOrder {
  readonly #after: Uint32Array | undefined
  readonly #id = new Uint32Array(WORDS)
  readonly #runs: Run[] = []
  #last: Run | undefined
  /** How many there are. */
  size = 0

  /** @param after only rows with a higher id count */
  constructor(after?: Uint8Array) {
    if (after) readId(after, (this.#after = new Uint32Array(WORDS)), 0)
  }

  add(id: Uint8Array, row: number): void {
    readId(id, this.#id, 0)
    if (this.#after && compare(this.#id, 0, this.#after, 0) <= 0) return
    if (!this.#last) this.#runs.push((this.#last = new Run()))
    this.#last.add(this.#id, row)
    this.size++
    if (this.#last.isFull) this.#close()
  }

  #close(): void {
    this.#last?.sort()
    this.#last = undefined
  }

  /** The rows; once. */
  *rows(): Generator<number> {
    this.#close()
    // A heap: what is at `i` is not behind what is at `2 * i + 1` and at `2 * i + 2`.
    const heap = this.#runs.sort((a, b) => (a.isBehind(b) ? 1 : -1))
    while (heap.length > 0) {
      const first = heap[0]!
      yield first.row
      if (!first.next()) {
        const last = heap.pop()!
        if (heap.length === 0) return
        heap[0] = last
      }
      sink(heap)
    }
  }
}

/** Brings the first of a heap to where it belongs. */
function sink(heap: Run[]): void {
  for (let at = 0; ;) {
    let lowest = at
    for (const child of [2 * at + 1, 2 * at + 2])
      if (child < heap.length && heap[lowest]!.isBehind(heap[child]!)) lowest = child
    if (lowest === at) return
    ;[heap[at], heap[lowest]] = [heap[lowest]!, heap[at]!]
    at = lowest
  }
}
