/**
 * Sequence number of the last entry that any thread may have answered a put of. The main thread sets it before it
 * answers; all threads read it. Only its lower 32 bits are stored: two positions of a process differ by less.
 */
export class AnsweredSeq {
  /** Memory that the threads share. */
  readonly memory: SharedArrayBuffer
  readonly #cell: Int32Array

  constructor(memory = new SharedArrayBuffer(Int32Array.BYTES_PER_ELEMENT)) {
    this.memory = memory
    this.#cell = new Int32Array(memory)
  }

  get(): number {
    return Atomics.load(this.#cell, 0)
  }

  set(seq: number): void {
    Atomics.store(this.#cell, 0, seq | 0)
  }
}

/** True if a position is before one that `AnsweredSeq.get` returned. */
export const isBeforeAnswered = (seq: number, answered: number): boolean => ((seq - answered) | 0) < 0
