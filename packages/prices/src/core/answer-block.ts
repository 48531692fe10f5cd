/** Number of rows in a block of memory that threads share. */
export const BLOCK_ROWS = 512
/** Number of rows in a page: the unit that a change writes to disk, and that the LRU cache loads and evicts. */
export const PAGE_ROWS = 32

export const ID_BYTES = 16

// Layout of a row: value, id, kind. They are adjacent because an answer needs all three: usually one cache line to wait
// for.
const ID_OFFSET = 8
const KIND_OFFSET = ID_OFFSET + ID_BYTES
export const ROW_BYTES = 28
export const BLOCK_BYTES = BLOCK_ROWS * ROW_BYTES
export const PAGE_BYTES = PAGE_ROWS * ROW_BYTES

/** The fields that all answers of one kind share. */
export interface AnswerKind {
  readonly spec: string
  readonly currency: string
}

/** Numbers the kinds of answers. Answers with the same spec and currency have the same kind. */
export class AnswerKinds {
  readonly list: AnswerKind[] = []
  readonly #codes = new Map<string, number>()

  constructor(kinds: readonly AnswerKind[] = []) {
    for (const { spec, currency } of kinds) this.ensureCode(spec, currency)
  }

  ensureCode(spec: string, currency: string): number {
    // A currency has no line break, so different kinds have different keys.
    const key = `${currency}\n${spec}`
    let code = this.#codes.get(key)
    if (code === undefined) this.#codes.set(key, (code = this.list.push({ spec, currency }) - 1))
    return code
  }
}

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

  getValue(slot: number): number {
    return this.#view.getFloat64(slot * ROW_BYTES, true)
  }

  getKind(slot: number): number {
    return this.#view.getUint32(slot * ROW_BYTES + KIND_OFFSET, true)
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

  set(slot: number, id: Uint8Array, value: number, kind: number): void {
    this.bytes.set(id, this.getIdStart(slot))
    this.#view.setFloat64(slot * ROW_BYTES, value, true)
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
