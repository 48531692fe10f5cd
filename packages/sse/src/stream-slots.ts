// As many as `--threads` may name.
const MAX_THREADS = 64

/** A thread's part of the table in which open streams are counted. */
export interface SlotShare {
  /** One Int32 a thread. */
  readonly cells: SharedArrayBuffer
  readonly row: number
}

/** Main's side: a thread counts in a row of its own, so what one that died had open goes with it. */
export class SlotTable {
  readonly #cells = new SharedArrayBuffer(MAX_THREADS * Int32Array.BYTES_PER_ELEMENT)
  readonly #freeRows = Array.from({ length: MAX_THREADS }, (_, row) => row)

  /** For a thread that is started. */
  share(): SlotShare {
    return { cells: this.#cells, row: this.#freeRows.shift()! }
  }

  /** The thread that had this share is gone. */
  release({ row }: SlotShare): void {
    Atomics.store(new Int32Array(this.#cells), row, 0)
    this.#freeRows.push(row)
  }
}

/** A thread's side: how many streams there may be on all threads together. */
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

  /** Takes a place if there is one. Of two threads that ask for the last at the same time neither may get it. */
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
