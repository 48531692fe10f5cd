const NEW_LINE = 0x0a
const EMPTY: Buffer = Buffer.alloc(0)

/**
 * Takes lengths of bytes from chunks. Chunks are joined only when all bytes of a length have arrived, so each byte is
 * copied at most once.
 */
export class ByteQueue {
  /** Number of bytes that were taken. */
  takenBytes = 0
  readonly #source: AsyncIterator<Buffer>
  #chunks: Buffer[] = []
  /** Size of `#chunks` (bytes). */
  #size = 0

  constructor(chunks: AsyncIterable<Buffer>) {
    this.#source = chunks[Symbol.asyncIterator]()
  }

  /** True if `take` may take this many bytes. */
  has(length: number): boolean {
    return this.#size >= length
  }

  /** Reads until `length` bytes are present. @returns false if the source ends first */
  async fill(length: number): Promise<boolean> {
    while (this.#size < length) {
      const { done, value } = await this.#source.next()
      if (done) return false
      this.#chunks.push(value)
      this.#size += value.length
    }
    return true
  }

  /** Takes bytes that are present. */
  take(length: number): Buffer {
    if (length > (this.#chunks[0]?.length ?? 0)) this.#join()
    const first = this.#chunks[0] ?? EMPTY
    this.takenBytes += length
    this.#size -= length
    if (first.length > length) this.#chunks[0] = first.subarray(length)
    else this.#chunks.shift()
    return first.subarray(0, length)
  }

  /** Resolves with the length of the next line, its end included; undefined if it has no end within `max` bytes. */
  async findLine(max: number): Promise<number | undefined> {
    for (let length = 1; length <= max && (await this.fill(length)); length = this.#size + 1) {
      const end = this.#join().indexOf(NEW_LINE)
      if (end >= 0) return end < max ? end + 1 : undefined
    }
    return undefined
  }

  /** Ends the source. */
  async close(): Promise<void> {
    await this.#source.return?.()
  }

  #join(): Buffer {
    if (this.#chunks.length !== 1) this.#chunks = [Buffer.concat(this.#chunks)]
    return this.#chunks[0]!
  }
}
