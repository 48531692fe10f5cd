// As many as `--threads` may name.
const MOST_THREADS = 64

/** A thread's part of the table in which open streams are counted. */
export interface PlaceShare {
  /** One Int32 a thread. */
  readonly cells: SharedArrayBuffer
  readonly row: number
}

/** Main's side: a thread counts in a row of its own, so what one that died had open goes with it. */
export class PlaceTable {
  readonly #cells = new SharedArrayBuffer(MOST_THREADS * Int32Array.BYTES_PER_ELEMENT)
  readonly #free = Array.from({ length: MOST_THREADS }, (_, row) => row)

  /** For a thread that is started. */
  share(): PlaceShare {
    return { cells: this.#cells, row: this.#free.shift()! }
  }

  /** The thread that had this share is gone. */
  gone({ row }: PlaceShare): void {
    Atomics.store(new Int32Array(this.#cells), row, 0)
    this.#free.push(row)
  }
}

/** A thread's side: how many streams there may be on all threads together. */
export class Places {
  readonly #cells: Int32Array
  readonly #row: number
  readonly #most: number

  constructor({ cells, row }: PlaceShare, most: number) {
    this.#cells = new Int32Array(cells)
    this.#row = row
    this.#most = most
  }

  get isFull(): boolean {
    return this.#taken() >= this.#most
  }

  /** Takes a place if there is one. Of two threads that ask for the last at the same time neither may get it. */
  take(): boolean {
    Atomics.add(this.#cells, this.#row, 1)
    if (this.#taken() <= this.#most) return true
    this.giveBack()
    return false
  }

  giveBack(): void {
    Atomics.sub(this.#cells, this.#row, 1)
  }

  #taken(): number {
    let taken = 0
    for (let row = 0; row < this.#cells.length; row++) taken += Atomics.load(this.#cells, row)
    return taken
  }
}
