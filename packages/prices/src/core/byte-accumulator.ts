/** Bytes that came in pieces, in one piece: its room is doubled when it is full, so that each byte is copied a few times. */
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

  /** All of it; valid until something is added. Then it is empty. */
  take(): Buffer {
    const bytes = this.#bytes.subarray(0, this.length)
    this.length = 0
    return bytes
  }
}
