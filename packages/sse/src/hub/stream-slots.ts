// Maximum value of `--threads`.
const MAX_THREADS = 64
/** Row of the sum of all other rows. */
const TOTAL = 0

/** Access of one thread to the table that counts the open streams of all threads. */
export interface SlotShare {
  /** The table: their sum, and one Int32 per thread. */
  readonly cells: SharedArrayBuffer
  /** Index of this thread's number in the table. */
  readonly row: number
}

/**
 * Table of the numbers of open streams. The main thread creates it. Each thread counts in its own row, so that the main
 * thread can remove the streams of an exited thread from the count.
 */
export class SlotTable {
  readonly #cells = new SharedArrayBuffer((1 + MAX_THREADS) * Int32Array.BYTES_PER_ELEMENT)
  readonly #freeRows = Array.from({ length: MAX_THREADS }, (_, thread) => 1 + thread)

  /** Returns the share of a new thread. */
  share(): SlotShare {
    return { cells: this.#cells, row: this.#freeRows.shift()! }
  }

  /** Frees the row of an exited thread. */
  release({ row }: SlotShare): void {
    const cells = new Int32Array(this.#cells)
    Atomics.sub(cells, TOTAL, Atomics.exchange(cells, row, 0))
    this.#freeRows.push(row)
  }
}

/** Limits the number of streams of all threads together. Each thread has its own instance. */
export class StreamSlots {
  readonly #cells: Int32Array
  readonly #row: number
  readonly #max: number

  constructor({ cells, row }: SlotShare, max: number) {
    this.#cells = new Int32Array(cells)
    this.#row = row
    this.#max = max
  }

  get isFull(): boolean {
    return Atomics.load(this.#cells, TOTAL) >= this.#max
  }

  /** Acquires a slot if one is free. A refusal occupies a slot for an instant, so it may cause another refusal. */
  tryAcquire(): boolean {
    Atomics.add(this.#cells, this.#row, 1)
    if (Atomics.add(this.#cells, TOTAL, 1) < this.#max) return true
    this.release()
    return false
  }

  release(): void {
    Atomics.sub(this.#cells, this.#row, 1)
    Atomics.sub(this.#cells, TOTAL, 1)
  }
}
