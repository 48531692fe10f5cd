/** Reads LevelDB's encodings from bytes. @throws RangeError if the bytes end early */
export class ByteReader {
  readonly #bytes: Buffer
  #at = 0

  constructor(bytes: Buffer) {
    this.#bytes = bytes
  }

  get isAtEnd(): boolean {
    return this.#at >= this.#bytes.length
  }

  get offset(): number {
    return this.#at
  }

  readByte(): number {
    if (this.isAtEnd) throw new RangeError('it is truncated')
    return this.#bytes[this.#at++]!
  }

  /**
   * Reads an integer in groups of 7 bits, the lowest first. Refuses a last group of zeros, which LevelDB never writes.
   */
  readVarint(): number {
    let value = 0
    for (let factor = 1; factor <= 2 ** 49; factor *= 128) {
      const byte = this.readByte()
      value += (byte & 0x7f) * factor
      if (byte === 0 && factor > 1) throw new RangeError('a number has a superfluous byte')
      if (byte < 0x80) return value
    }
    throw new RangeError('a number is too long')
  }

  take(length: number): Buffer {
    if (this.#at + length > this.#bytes.length) throw new RangeError('it is truncated')
    return this.#bytes.subarray(this.#at, (this.#at += length))
  }

  /** Reads a length, then that number of bytes. */
  readPrefixed(): Buffer {
    return this.take(this.readVarint())
  }
}

/** Encodes an integer for `ByteReader.readVarint`. */
export function toVarint(value: number): Buffer {
  const bytes: number[] = []
  for (; value >= 128; value = Math.floor(value / 128)) bytes.push((value % 128) | 0x80)
  return Buffer.from([...bytes, value])
}
