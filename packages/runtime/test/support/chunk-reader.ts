/** Reads the content of a reply with chunks (RFC 9112, 7.1), which arrives in any number of pieces. */
export class ChunkReader {
  /** Number of chunks that have arrived as a whole, without the last one. */
  chunks = 0
  /** True after the last chunk. */
  isEnded = false
  #input = Buffer.alloc(0)
  #missing = 0

  /** True between two chunks. */
  get isWhole(): boolean {
    return this.#input.length === 0 && this.#missing === 0
  }

  /** Returns the content in these bytes. @throws Error if they are not chunks, or follow the last one */
  feed(bytes: Uint8Array): Buffer {
    this.#input = Buffer.concat([this.#input, bytes])
    const parts: Buffer[] = []
    while (this.#input.length > 0) {
      if (this.isEnded) throw new Error(`bytes after the last chunk: ${this.#input.toString('latin1', 0, 100)}`)
      if (this.#missing > 0) {
        const part = this.#input.subarray(0, this.#missing)
        // The last two bytes are the line end of the chunk.
        parts.push(part.subarray(0, Math.max(0, this.#missing - 2)))
        this.#skip(part.length)
        if ((this.#missing -= part.length) === 0) this.chunks++
        continue
      }
      const end = this.#input.indexOf('\r\n')
      if (end < 0) break
      const size = this.#input.toString('latin1', 0, end)
      if (!/^[\da-f]+$/.test(size)) throw new Error(`not the size of a chunk: ${size.slice(0, 100)}`)
      if (size === '0') {
        if (this.#input.length < end + 4) break
        this.isEnded = true
        this.#skip(end + 4)
      } else {
        this.#missing = Number.parseInt(size, 16) + 2
        this.#skip(end + 2)
      }
    }
    return Buffer.concat(parts)
  }

  #skip(count: number): void {
    this.#input = this.#input.subarray(count)
  }
}
