// Maximum value of `--threads`.
const MAX_THREADS = 64

/** Access of one thread to the table that counts the open streams of all threads. */
export interface SlotShare {
  /** The table: one Int32 per thread. */
  readonly cells: SharedArrayBuffer
  /** Index of this thread's number in the table. */
  readonly row: number
}

/**
 * Table of the numbers of open streams. The main thread creates it. Each thread counts in its own row, so that the main
 * thread can remove the streams of an exited thread from the count.
 */
export class SlotTable {
  readonly #cells = new SharedArrayBuffer(MAX_THREADS * Int32Array.BYTES_PER_ELEMENT)
  readonly #freeRows = Array.from({ length: MAX_THREADS }, (_, row) => row)

  /** Returns the share of a new thread. */
  share(): SlotShare {
    return { cells: this.#cells, row: this.#freeRows.shift()! }
  }

  /** Frees the row of an exited thread. */
  release({ row }: SlotShare): void {
    Atomics.store(new Int32Array(this.#cells), row, 0)
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
    return this.#countUsed() >= this.#max
  }

  /**
   * Acquires a slot if one is free. If two threads request the last slot at the same time, it may happen that neither
   * gets it.
   */
  tryAcquire(): boolean {
    Atomics.add(this.#cells, this.#row, 1)
    if (this.#countUsed() <= this.#max) return true
    this.release()
    return false
  }

  release(): void {
    Atomics.sub(this.#cells, this.#row, 1)
  }

  #countUsed(): number {
    let used = 0
    for (let row = 0; row < this.#cells.length; row++) used += Atomics.load(this.#cells, row)
    return used
  }
}
