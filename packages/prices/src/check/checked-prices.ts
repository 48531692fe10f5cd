import { forEachInTurns } from '@influencer-stats/runtime/async/yield'
import { ID_BYTES } from '../core/answer-block.ts'
import { IdTable } from '../core/id-table.ts'

/** A price of a file, for the comparison with the others. */
export interface CheckedPrice {
  /** Number of its line in the file. */
  readonly line: number
  /** Number of its offering, group, spec, currency and characteristics. */
  readonly group: number
  /** Number that equal values share. */
  readonly value: number
  readonly isDefault: boolean
  /** The first minute at which it is valid, and the first one at which it is no longer valid, in 32 bits. */
  readonly from: number
  readonly to: number
}

const BLOCK_ENTRIES = 16_384
const VALUE_OFFSET = ID_BYTES
const LINE_OFFSET = VALUE_OFFSET + 8
const GROUP_OFFSET = LINE_OFFSET + 4
const FROM_OFFSET = GROUP_OFFSET + 4
const TO_OFFSET = FROM_OFFSET + 4
const DEFAULT_OFFSET = TO_OFFSET + 4
const ENTRY_BYTES = DEFAULT_OFFSET + 1

/** Rows of fixed size, in blocks that never move. */
class Rows {
  readonly #bytes: number
  readonly #blocks: DataView<ArrayBuffer>[] = []
  size = 0

  /** @param bytes size of a row */
  constructor(bytes: number) {
    this.#bytes = bytes
  }

  /** Adds a row, and returns its number. */
  add(): number {
    if (this.size % BLOCK_ENTRIES === 0) this.#blocks.push(new DataView(new ArrayBuffer(BLOCK_ENTRIES * this.#bytes)))
    return this.size++
  }

  getBlock(row: number): DataView<ArrayBuffer> {
    return this.#blocks[Math.floor(row / BLOCK_ENTRIES)]!
  }

  getOffset(row: number): number {
    return (row % BLOCK_ENTRIES) * this.#bytes
  }

  /** Returns the digest at the beginning of a row. */
  getDigest(row: number): Uint8Array {
    return new Uint8Array(this.getBlock(row).buffer, this.getOffset(row), ID_BYTES)
  }
}

/** The prices of a file: about 70 bytes each, however long their texts are. */
export class CheckedPrices {
  readonly #prices = new Rows(ENTRY_BYTES)
  readonly #ids = new IdTable((row) => this.#prices.getDigest(row))
  readonly #groups = new Rows(ID_BYTES)
  readonly #groupNumbers = new IdTable((row) => this.#groups.getDigest(row))

  get size(): number {
    return this.#prices.size
  }

  /** Returns the number of prices with the same offering, group, spec, currency and characteristics. */
  ensureGroup(digest: Uint8Array): number {
    const found = this.#groupNumbers.find(digest)
    if (found >= 0) return found
    const group = this.#groups.add()
    this.#groups.getDigest(group).set(digest)
    this.#groupNumbers.add(group, digest)
    return group
  }

  /** Adds a price. If its id is not new, it replaces the earlier price, whose line is returned. */
  put(id: Uint8Array, price: CheckedPrice): number | undefined {
    const found = this.#ids.find(id)
    const row = found < 0 ? this.#prices.add() : found
    const view = this.#prices.getBlock(row)
    const at = this.#prices.getOffset(row)
    const replaced = found < 0 ? undefined : view.getUint32(at + LINE_OFFSET)
    view.setFloat64(at + VALUE_OFFSET, price.value)
    view.setUint32(at + LINE_OFFSET, price.line)
    view.setUint32(at + GROUP_OFFSET, price.group)
    view.setInt32(at + FROM_OFFSET, price.from)
    view.setInt32(at + TO_OFFSET, price.to)
    view.setUint8(at + DEFAULT_OFFSET, price.isDefault ? 1 : 0)
    if (found < 0) {
      this.#prices.getDigest(row).set(id)
      this.#ids.add(row, id)
    }
    return replaced
  }

  /** Returns the rows in the order of their groups, and in each group by their start. */
  async sort(): Promise<Uint32Array> {
    const getStart = (row: number) => this.#read(row, FROM_OFFSET) ^ 0x8000_0000
    let rows: Uint32Array = Uint32Array.from({ length: this.size }, (_, row) => row)
    rows = await sortByKey(rows, (row) => getStart(row) & 0xffff, 0x1_0000)
    rows = await sortByKey(rows, (row) => getStart(row) >>> 16, 0x1_0000)
    return sortByKey(rows, (row) => this.getGroup(row), this.#groups.size)
  }

  getGroup(row: number): number {
    return this.#read(row, GROUP_OFFSET)
  }

  isDefault(row: number): boolean {
    return this.#prices.getBlock(row).getUint8(this.#prices.getOffset(row) + DEFAULT_OFFSET) === 1
  }

  get(row: number): CheckedPrice {
    const view = this.#prices.getBlock(row)
    const at = this.#prices.getOffset(row)
    return {
      line: view.getUint32(at + LINE_OFFSET),
      group: view.getUint32(at + GROUP_OFFSET),
      value: view.getFloat64(at + VALUE_OFFSET),
      isDefault: view.getUint8(at + DEFAULT_OFFSET) === 1,
      from: view.getInt32(at + FROM_OFFSET),
      to: view.getInt32(at + TO_OFFSET),
    }
  }

  #read(row: number, field: number): number {
    return this.#prices.getBlock(row).getUint32(this.#prices.getOffset(row) + field)
  }
}

/** Sorts rows by a key from 0 to `keys` - 1. Rows with the same key stay in their order. */
async function sortByKey(rows: Uint32Array, getKey: (row: number) => number, keys: number): Promise<Uint32Array> {
  const next = new Uint32Array(keys + 1)
  await forEachInTurns(rows.length, (i) => void next[getKey(rows[i]!) + 1]!++)
  for (let key = 0; key < keys; key++) next[key + 1]! += next[key]!
  const sorted = new Uint32Array(rows.length)
  await forEachInTurns(rows.length, (i) => void (sorted[next[getKey(rows[i]!)]!++] = rows[i]!))
  return sorted
}
