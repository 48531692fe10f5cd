/** So many rows lie in a block of memory that threads share. */
export const BLOCK_ROWS = 512
/** So many rows lie in a page: what a change writes to disk, and what the LRU loads and evicts. */
export const PAGE_ROWS = 32

export const ID_BYTES = 16

// Of a row: its value, its id, its kind. Together, as an answer needs all three: most often one line of memory to wait for.
const ID_OFFSET = 8
const KIND_OFFSET = ID_OFFSET + ID_BYTES
export const ROW_BYTES = 28
export const BLOCK_BYTES = BLOCK_ROWS * ROW_BYTES
export const PAGE_BYTES = PAGE_ROWS * ROW_BYTES

/** What the answers of one kind share: the spec and the currency. */
export interface AnswerKind {
  readonly spec: string
  readonly currency: string
}

/**
 * What is needed to answer with a row, for the rows of one block or page. Values and kinds are read through one view: a typed array
 * of each would be two more objects to fetch at every answer, a third of what it costs.
 */
export class AnswerBlock {
  readonly bytes: Uint8Array
  readonly #view: DataView
  readonly #lastSlot: number

  constructor(bytes: Uint8Array) {
    this.bytes = bytes
    this.#lastSlot = bytes.length / ROW_BYTES - 1
    this.#view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength)
  }

  /** Where the answer of a row lies, which is one of this block's. */
  toSlot(row: number): number {
    return row & this.#lastSlot
  }

  value(slot: number): number {
    return this.#view.getFloat64(slot * ROW_BYTES, true)
  }

  kind(slot: number): number {
    return this.#view.getUint32(slot * ROW_BYTES + KIND_OFFSET, true)
  }

  /** Where in `bytes` an id begins. */
  getIdStart(slot: number): number {
    return slot * ROW_BYTES + ID_OFFSET
  }

  id(slot: number): Uint8Array {
    const start = this.getIdStart(slot)
    return this.bytes.subarray(start, start + ID_BYTES)
  }

  /** All bytes of a row. */
  row(slot: number): Uint8Array {
    return this.bytes.subarray(slot * ROW_BYTES, (slot + 1) * ROW_BYTES)
  }

  /** The bytes of one of the pages that a block is made of. */
  getPage(number: number): Uint8Array {
    const start = this.toSlot(number * PAGE_ROWS) * ROW_BYTES
    return this.bytes.subarray(start, start + PAGE_BYTES)
  }

  set(slot: number, id: Uint8Array, value: number, kind: number): void {
    this.bytes.set(id, this.getIdStart(slot))
    this.#view.setFloat64(slot * ROW_BYTES, value, true)
    this.#view.setUint32(slot * ROW_BYTES + KIND_OFFSET, kind, true)
  }
}

/** A block in memory that threads share. */
export const createSharedBlock = (content?: Uint8Array): Uint8Array => {
  const bytes = new Uint8Array(new SharedArrayBuffer(BLOCK_BYTES))
  if (content) bytes.set(content)
  return bytes
}

export const toBlockNumber = (row: number): number => Math.floor(row / BLOCK_ROWS)
export const toSlot = (row: number): number => row % BLOCK_ROWS
export const toPageNumber = (row: number): number => Math.floor(row / PAGE_ROWS)
