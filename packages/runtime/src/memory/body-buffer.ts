import type { MemoryHold } from './budget.ts'

const MIN_BUFFER_BYTES = 16_384

/**
 * A body as it comes. Its pieces are copied together, for each that is kept would cost hundreds of bytes besides its own,
 * however short it is. A body of one piece is not copied.
 */
export class BodyBuffer {
  readonly #hold: () => MemoryHold
  readonly #expected: number
  #bytes: Buffer | undefined
  length = 0

  /** @param hold what its room is taken from, asked for once there is more than one piece @param expected length, where it is known */
  constructor(hold: () => MemoryHold, expected = Infinity) {
    this.#hold = hold
    this.#expected = expected
  }

  /** Returns whether there is room for it; if not, nothing of the body is kept. */
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

  /** What has come. */
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
    // Of the smaller one.
    hold.releaseFirst()
    return true
  }

  #clear(): false {
    this.#bytes = undefined
    this.length = 0
    return false
  }
}
