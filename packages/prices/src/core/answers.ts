/** So many rows lie in a block: what an update copies, and what the LRU loads and evicts. */
export const BLOCK_ROWS = 512

const VALUE_BYTES = 8
const KIND_BYTES = 4
export const ID_BYTES = 16

const KINDS = BLOCK_ROWS * VALUE_BYTES
const IDS = KINDS + BLOCK_ROWS * KIND_BYTES
/** 28 bytes a row. */
export const BLOCK_BYTES = IDS + BLOCK_ROWS * ID_BYTES

/** What the answers of one kind share: the spec and the currency. */
export interface AnswerKind {
  readonly spec: string
  readonly currency: string
}

/** What is needed to answer with a row, for the rows of one block. */
export class AnswerBlock {
  readonly bytes: Uint8Array
  readonly values: Float64Array
  readonly kinds: Uint32Array
  /** Sixteen bytes an id. */
  readonly ids: Uint8Array

  constructor(bytes: Uint8Array) {
    const { buffer, byteOffset } = bytes
    this.bytes = bytes
    this.values = new Float64Array(buffer, byteOffset, BLOCK_ROWS)
    this.kinds = new Uint32Array(buffer, byteOffset + KINDS, BLOCK_ROWS)
    this.ids = new Uint8Array(buffer, byteOffset + IDS, BLOCK_ROWS * ID_BYTES)
  }

  set(slot: number, id: Uint8Array, value: number, kind: number): void {
    this.ids.set(id, slot * ID_BYTES)
    this.values[slot] = value
    this.kinds[slot] = kind
  }
}

/** A block in memory that threads share. */
export const sharedBlock = (content?: Uint8Array): Uint8Array => {
  const bytes = new Uint8Array(new SharedArrayBuffer(BLOCK_BYTES))
  if (content) bytes.set(content)
  return bytes
}

export const blockOf = (row: number): number => Math.floor(row / BLOCK_ROWS)
export const slotOf = (row: number): number => row % BLOCK_ROWS
