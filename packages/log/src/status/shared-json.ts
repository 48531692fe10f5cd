// The number of the last change, and two slots with a length and JSON. A change is written to the slot that no thread
// reads.
const WORD_BYTES = BigInt64Array.BYTES_PER_ELEMENT
const LENGTH_BYTES = 2

/** Value that the main thread publishes to the other threads in shared memory, as JSON. */
export class SharedJson<T> {
  readonly #change: BigInt64Array
  readonly #slots: Buffer
  readonly #slotBytes: number

  /** Returns the memory that it requires (bytes). */
  static getSize = (slotBytes: number) => WORD_BYTES + 2 * slotBytes

  /**
   * @param offset of its memory (bytes; a multiple of 8)
   * @param slotBytes maximum size of the JSON, and two bytes (bytes; a multiple of 4)
   */
  constructor(memory: SharedArrayBuffer, offset: number, slotBytes: number) {
    this.#change = new BigInt64Array(memory, offset, 1)
    this.#slots = Buffer.from(memory, offset + WORD_BYTES, 2 * slotBytes)
    this.#slotBytes = slotBytes
  }

  /** Returns the last value; undefined before the first. */
  read(): T | undefined {
    const change = Number(Atomics.load(this.#change, 0))
    if (change === 0) return undefined
    const at = (change % 2) * this.#slotBytes
    const length = this.#slots.readUInt16BE(at)
    return length === 0
      ? undefined
      : JSON.parse(this.#slots.toString('utf8', at + LENGTH_BYTES, at + LENGTH_BYTES + length))
  }

  /** Main thread only. A value that is too large is left out: `read` then returns undefined. */
  write(value: T | undefined): void {
    const change = Number(Atomics.load(this.#change, 0)) + 1
    const at = (change % 2) * this.#slotBytes
    const text = value === undefined ? '' : JSON.stringify(value)
    const length = Buffer.byteLength(text)
    const isFitting = length <= this.#slotBytes - LENGTH_BYTES
    this.#slots.writeUInt16BE(isFitting ? length : 0, at)
    if (isFitting) this.#slots.write(text, at + LENGTH_BYTES)
    Atomics.store(this.#change, 0, BigInt(change))
  }
}
