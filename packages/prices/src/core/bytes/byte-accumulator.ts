/**
 * Collects bytes from several pieces in one buffer. A full buffer at least doubles its size, so a byte is copied
 * once or twice on average.
 */
export class ByteAccumulator {
  #bytes = Buffer.alloc(0)
  length = 0

  add(piece: Uint8Array): void {
    const length = this.length + piece.length
    if (length > this.#bytes.length) {
      const larger = Buffer.allocUnsafeSlow(Math.max(length, 2 * this.#bytes.length))
      larger.set(this.#bytes.subarray(0, this.length))
      this.#bytes = larger
    }
    this.#bytes.set(piece, this.length)
    this.length = length
  }

  /** Returns all bytes and empties the accumulator. The result is valid until the next `add`. */
  take(): Buffer {
    const bytes = this.#bytes.subarray(0, this.length)
    this.length = 0
    return bytes
  }
}
