import type { SearchQuery } from '../../core/search-query.ts'
import type { Segment, SegmentEntry } from '../sets/segment.ts'
import type { Partition } from './partitions.ts'
import type { NumberedRow } from './offering-codec.ts'

/** The key of the segment's entry with whole rows: a hash table that finds rows by all their values. */
export const WHOLE_ROWS_KEY = -5
// The layout of the entry: four cells of 32 bits, then slots, then the rows' values.
const WIDTH = 0
const BASE = 1
const CAPACITY = 2
const BYTES_PER_VALUE = 3
const HEADER_BYTES = 16
/** Maximum rows with slots of 16 bits. A slot holds an ordinal plus one, so that 0 is an empty slot. */
const MAX_UINT16_ROWS = 0xfffe
/**
 * Maximum probes for the slot of a row. Rows with the same values take consecutive slots. If a row needs more probes,
 * even by chance, the offering has no whole rows, and searches use the sets.
 */
const MAX_PROBES = 128
/** If rows have different numbers of values, the maximum ratio of the largest number to the average. */
const MAX_WIDTH_RATIO = 2

const SEED = 0x9e37_79b1

/** Returns the contribution of a value to the hash of a row, independent of the order of values. */
function hashTerm(term: number): number {
  let bits = Math.imul(term + 1, SEED)
  bits = Math.imul(bits ^ (bits >>> 15), 0x85eb_ca6b)
  return bits ^ (bits >>> 13)
}

/**
 * Returns the first slot to search for a row's ordinal.
 * @param first first ordinal of the row's partition
 */
function toSlot(values: ArrayLike<number>, count: number, first: number, mask: number): number {
  let hash = 0
  for (let i = 0; i < count; i++) hash = (hash + hashTerm(values[i]!)) | 0
  const bits = Math.imul(hash ^ Math.imul(first + 1, SEED), 0xc2b2_ae35)
  return (bits ^ (bits >>> 16)) & mask
}

/** Returns the narrowest array type for integers from 0 to `range`. */
const getCellType = (range: number) => (range <= 0xff ? Uint8Array : range <= 0xffff ? Uint16Array : Int32Array)

/**
 * Builds a hash table of the offering's rows by all their values, plus the values of each row. By far the largest share
 * of searches name as many values as the rows have. Such a search takes one lookup in the table and one comparison with
 * the row, instead of twenty distant lookups in twenty sets. Returns an empty list if the rows are unsuitable.
 */
export function createWholeRows(rows: readonly NumberedRow[], partitions: readonly Partition[]): SegmentEntry[] {
  let [width, count, min, max] = [0, 0, Infinity, 0]
  for (const { values } of rows) {
    width = Math.max(width, values.length)
    count += values.length
    for (let i = 0; i < values.length; i++) {
      min = Math.min(min, values[i]!)
      max = Math.max(max, values[i]!)
    }
  }
  if (count === 0 || width * rows.length > MAX_WIDTH_RATIO * count) return []
  let capacity = 8
  while (capacity < 2 * rows.length) capacity *= 2
  const Cells = getCellType(max - min)
  const Slots = rows.length > MAX_UINT16_ROWS ? Int32Array : Uint16Array
  const slotBytes = capacity * Slots.BYTES_PER_ELEMENT
  const cellBytes = rows.length * width * Cells.BYTES_PER_ELEMENT
  const bytes = new Uint8Array(HEADER_BYTES + slotBytes + cellBytes)
  const header = new Int32Array(bytes.buffer, 0, HEADER_BYTES >> 2)
  header[WIDTH] = width
  header[BASE] = min
  header[CAPACITY] = capacity
  header[BYTES_PER_VALUE] = Cells.BYTES_PER_ELEMENT
  const slots = new Slots(bytes.buffer, HEADER_BYTES, capacity)
  const cells = new Cells(bytes.buffer, HEADER_BYTES + slotBytes, rows.length * width)
  for (const { first, end } of partitions) {
    for (let ordinal = first; ordinal < end; ordinal++) {
      const { values } = rows[ordinal]!
      // A search with `width` values cannot find a row with fewer values.
      if (values.length < width) continue
      for (let i = 0; i < width; i++) cells[ordinal * width + i] = values[i]! - min
      let slot = toSlot(values, width, first, capacity - 1)
      for (let probes = 0; slots[slot] !== 0; probes++) {
        if (probes === MAX_PROBES) return []
        slot = (slot + 1) & (capacity - 1)
      }
      slots[slot] = ordinal + 1
    }
  }
  return [{ key: WHOLE_ROWS_KEY, cardinality: rows.length, bytes }]
}

/** The data that `createWholeRows` wrote, as a thread reads it. */
export interface WholeRows {
  /** Number of values that a search must name. */
  readonly width: number
  /** The lowest term of a value of these rows. */
  readonly base: number
  readonly mask: number
  /** The hash table: each slot has an ordinal plus one, or 0 if it is empty. */
  readonly slots: Uint16Array | Int32Array
  /** The terms of the rows' values minus `base`, `width` per row. */
  readonly cells: Uint8Array | Uint16Array | Int32Array
}

/** Returns the whole rows of a segment; undefined if it has none. */
export function readWholeRows(segment: Segment): WholeRows | undefined {
  const position = segment.findPosition(WHOLE_ROWS_KEY)
  if (position < 0) return undefined
  const { buffer, byteOffset } = segment.getSet(position)
  const header = new Int32Array(buffer, byteOffset, HEADER_BYTES >> 2)
  const [width, base, capacity] = [header[WIDTH]!, header[BASE]!, header[CAPACITY]!]
  const start = byteOffset + HEADER_BYTES
  const slots =
    segment.count > MAX_UINT16_ROWS ? new Int32Array(buffer, start, capacity) : new Uint16Array(buffer, start, capacity)
  const cells = readCells(buffer, start + slots.byteLength, segment.count * width, header[BYTES_PER_VALUE]!)
  return { width, base, mask: capacity - 1, slots, cells }
}

function readCells(buffer: ArrayBufferLike, start: number, count: number, bytesPerValue: number): WholeRows['cells'] {
  if (bytesPerValue === 1) return new Uint8Array(buffer, start, count)
  return bytesPerValue === 2 ? new Uint16Array(buffer, start, count) : new Int32Array(buffer, start, count)
}

/** The query cannot be answered from whole rows: the caller uses the sets. */
export const NO_COUNT = -1

/** Finds rows by all their values. A finder reuses its memory for every search. */
export class WholeRowFinder {
  /** The result of the last `find`: ordinals relative to the first one of their partition, ascending. */
  readonly found = new Uint32Array(MAX_PROBES + 1)
  /** By term: 1 if the query names it. */
  #marks = new Uint8Array(1_024)

  /**
   * @returns how many rows of a partition have all values of a query; `NO_COUNT` if there are no whole rows, or if the
   * query does not name exactly `width` different values
   */
  find(rows: WholeRows | undefined, { values, count }: SearchQuery, { first, end }: Partition): number {
    if (count !== rows?.width) return NO_COUNT
    const marked = this.#mark(values, count)
    let size = NO_COUNT
    // A query with a duplicate value also matches rows with another value.
    if (marked === count) {
      size = 0
      const { slots, mask } = rows
      let slot = toSlot(values, count, first, mask)
      for (let ordinal = slots[slot]! - 1; ordinal >= 0; ordinal = slots[slot]! - 1) {
        if (ordinal >= first && ordinal < end && this.#has(rows, ordinal)) this.found[size++] = ordinal - first
        slot = (slot + 1) & mask
      }
    }
    for (let i = 0; i < count; i++) this.#marks[values[i]!] = 0
    return size
  }

  /** @returns number of distinct values */
  #mark(values: Int32Array, count: number): number {
    let marked = 0
    for (let i = 0; i < count; i++) {
      const term = values[i]!
      if (term >= this.#marks.length) this.#grow(term)
      marked += 1 - this.#marks[term]!
      this.#marks[term] = 1
    }
    return marked
  }

  #grow(term: number): void {
    const larger = new Uint8Array(2 * term)
    larger.set(this.#marks)
    this.#marks = larger
  }

  #has({ cells, width, base }: WholeRows, ordinal: number): boolean {
    const marks = this.#marks
    const end = (ordinal + 1) * width
    for (let at = ordinal * width; at < end; at++) if (marks[base + cells[at]!] !== 1) return false
    return true
  }
}
