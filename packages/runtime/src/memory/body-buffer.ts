import type { MemoryHold } from './budget.ts'

const MIN_BUFFER_BYTES = 16_384

/**
 * Collects the pieces of a body in one buffer. Stored separately, each piece would cost hundreds of bytes in addition
 * to its content. A body of one piece is not copied.
 */
export class BodyBuffer {
  readonly #hold: () => MemoryHold
  readonly #expected: number
  #bytes: Buffer | undefined
  length = 0

  /**
   * @param hold returns the hold for the memory; not called if the first piece has the expected length
   * @param expected length of the body, if known (bytes)
   */
  constructor(hold: () => MemoryHold, expected = Infinity) {
    this.#hold = hold
    this.#expected = expected
  }

  /** Adds a piece. Returns false and discards the body if the budget is too small. */
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

  /** The bytes that have arrived; undefined if there are none. */
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
    // Returns the bytes of the smaller buffer to the budget.
    hold.releaseFirst()
    return true
  }

  #clear(): false {
    this.#bytes = undefined
    this.length = 0
    return false
  }
}
