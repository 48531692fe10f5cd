import type { Amount } from './values/amount.ts'
import type { AnswerWords } from './answer-words.ts'
import { getTextOfId, isTextId } from './price-id.ts'
import { UUID_BYTES } from './values/uuid.ts'
import { findBoxedText, readBoxed, writeBoxed } from './boxed-amount.ts'

/** Number of rows in a block of memory that threads share. */
export const BLOCK_ROWS = 512
/** Number of rows in a page: the unit that a change writes to disk, and that the LRU cache loads and evicts. */
export const PAGE_ROWS = 32

export const ID_BYTES = UUID_BYTES

// Layout of a row: value, id, kind. They are adjacent because an answer needs all three: usually one cache line to wait
// for.
const ID_OFFSET = 8
const KIND_OFFSET = ID_OFFSET + ID_BYTES
export const ROW_BYTES = 28
export const BLOCK_BYTES = BLOCK_ROWS * ROW_BYTES
export const PAGE_BYTES = PAGE_ROWS * ROW_BYTES

/**
 * The answer data of the rows of one block or page, or of a single row. One view reads values and kinds: two typed
 * arrays would be two more objects to fetch for each answer, which would be a third of the cost of an answer.
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

  /** Returns the slot of a row that belongs to this block. */
  toSlot(row: number): number {
    return row & this.#lastSlot
  }

  /** Returns the value if it is stored as a double; NaN for any other value, which `getAmount` returns. */
  getDouble(slot: number): number {
    return this.#view.getFloat64(slot * ROW_BYTES, true)
  }

  /** Returns the exact value. */
  getAmount(slot: number, words: AnswerWords): Amount {
    const double = this.getDouble(slot)
    return Number.isNaN(double) ? readBoxed(this.#view, slot * ROW_BYTES, words) : double
  }

  getKind(slot: number): number {
    return this.#view.getUint32(slot * ROW_BYTES + KIND_OFFSET, true)
  }

  /** Returns the numbers of the answer words that a row contains. */
  listWords(slot: number): number[] {
    const id = this.getId(slot)
    const text = Number.isNaN(this.getDouble(slot)) ? findBoxedText(this.#view, slot * ROW_BYTES) : undefined
    return [this.getKind(slot), ...(isTextId(id) ? [getTextOfId(id)] : []), ...(text === undefined ? [] : [text])]
  }

  /** Returns the offset of an id in `bytes`. */
  getIdStart(slot: number): number {
    return slot * ROW_BYTES + ID_OFFSET
  }

  getId(slot: number): Uint8Array {
    const start = this.getIdStart(slot)
    return this.bytes.subarray(start, start + ID_BYTES)
  }

  /** Returns all bytes of a row. */
  getRow(slot: number): Uint8Array {
    return this.bytes.subarray(slot * ROW_BYTES, (slot + 1) * ROW_BYTES)
  }

  /** Returns the bytes of one page of this block. */
  getPage(number: number): Uint8Array {
    const start = this.toSlot(number * PAGE_ROWS) * ROW_BYTES
    return this.bytes.subarray(start, start + PAGE_BYTES)
  }

  /** @param words a value that a row cannot hold is added to them */
  set(slot: number, id: Uint8Array, value: Amount, kind: number, words: AnswerWords): void {
    this.bytes.set(id, this.getIdStart(slot))
    if (typeof value === 'number') this.#view.setFloat64(slot * ROW_BYTES, value, true)
    else writeBoxed(this.#view, slot * ROW_BYTES, value, words)
    this.#view.setUint32(slot * ROW_BYTES + KIND_OFFSET, kind, true)
  }
}

/** Creates a block in memory that threads share. */
export const createSharedBlock = (content?: Uint8Array): Uint8Array => {
  const bytes = new Uint8Array(new SharedArrayBuffer(BLOCK_BYTES))
  if (content) bytes.set(content)
  return bytes
}

export const toBlockNumber = (row: number): number => Math.floor(row / BLOCK_ROWS)
export const toSlot = (row: number): number => row % BLOCK_ROWS
export const toPageNumber = (row: number): number => Math.floor(row / PAGE_ROWS)
