import type { MemoryHold } from './budget.ts'

const MIN_BUFFER_BYTES = 16_384

/**
 * Collects a body. Copies its pieces into one buffer, because each stored piece would cost hundreds of bytes in
 * addition to its own, however short it is. A body of one piece is not copied.
 */
export class BodyBuffer {
  readonly #hold: () => MemoryHold
  readonly #expected: number
  #bytes: Buffer | undefined
  length = 0

  /**
   * @param hold returns the hold for the memory; called when there is more than one piece
   * @param expected length, if known
   */
  constructor(hold: () => MemoryHold, expected = Infinity) {
    this.#hold = hold
    this.#expected = expected
  }

  /** Returns false if the budget has too little left. The body is then discarded. */
  add(piece: Buffer): boolean {
    const length = this.length + piece.length
    if (!this.#bytes) {
      if (length < this.#expected && !this.#hold().take(piece.buffer.byteLength)) return false
      this.#bytes = piece
    } else {
      if (length > this.#bytes.length && !this.#extend(length)) return this.#clear()
      piece.copy(this.#bytes, this.length)
    }
    this.length = length
    return true
  }

  /** The bytes that have arrived. */
  get bytes(): Buffer | undefined {
    return this.#bytes?.subarray(0, this.length)
  }

  #extend(length: number): boolean {
    const size = Math.max(length, Math.min(Math.max(2 * length, MIN_BUFFER_BYTES), this.#expected))
    const hold = this.#hold()
    if (!hold.take(size)) return false
    const larger = Buffer.allocUnsafeSlow(size)
    this.#bytes!.copy(larger, 0, 0, this.length)
    this.#bytes = larger
    // Releases the memory of the smaller buffer.
    hold.releaseFirst()
    return true
  }

  #clear(): false {
    this.#bytes = undefined
    this.length = 0
    return false
  }
}
