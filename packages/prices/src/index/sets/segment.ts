import { FIRST_MOMENT, fromSaturated, LAST_MOMENT } from '../../core/values/moment.ts'
import { toRank } from '../rank.ts'
import {
  countDirectoryCells,
  listKeys,
  findPosition,
  readDirectory,
  writeDirectory,
  type Directory,
} from './directory.ts'

// The layout of a segment: header, directory, the starts, lengths and cardinalities of all sets, rows, the
// starts and ends of their validity, then the sets' bytes.
const COUNT = 0
const ENTRIES = 1
const DIRECTORY_CELLS = 2
/** The first row if rows are consecutive. Otherwise -1, and the segment has a list of its rows. */
const BASE = 3
const HAS_MOMENTS = 4
const HEADER_CELLS = 8
const CELLS_PER_ENTRY = 3

/** CRoaring requires this alignment for views. */
const ALIGNMENT_BYTES = 32
const alignBytes = (bytes: number) => Math.ceil(bytes / ALIGNMENT_BYTES) * ALIGNMENT_BYTES

/** The key of the set of the default rows. Sets that do not belong to a term have negative keys. */
export const DEFAULTS_KEY = -2

/** The key of the entry with the number of characteristics of each row, a byte per ordinal. */
export const CHARS_KEY = -6

/**
 * A set of rows in the format of the index, or other data, such as the list of partitions. A set contains the ordinals
 * of rows (their positions in the segment, from 0). Sets of the index `roaring` contain row numbers instead.
 */
export interface SegmentEntry {
  readonly key: number
  readonly cardinality: number
  readonly bytes: Uint8Array
}

/** The contents of a new segment. */
export interface SegmentSource {
  /** Rows by ordinal. */
  readonly rows: ArrayLike<number>
  /** The saturated start and end of each ordinal; undefined if no row has dates. */
  readonly moments: { readonly from: Int32Array; readonly to: Int32Array } | undefined
  readonly entries: readonly SegmentEntry[]
}

function isConsecutive(rows: ArrayLike<number>): boolean {
  for (let i = 1; i < rows.length; i++) if (rows[i] !== rows[0]! + i) return false
  return rows.length > 0
}

/** Allocates memory that threads share. */
const allocate = (bytes: number): Uint8Array => new Uint8Array(new SharedArrayBuffer(bytes))

/** Writes a segment into shared memory. */
export function writeSegment(
  { rows, moments, entries }: SegmentSource,
  alloc: (bytes: number) => Uint8Array = allocate,
): Uint8Array {
  const count = rows.length
  const base = isConsecutive(rows) ? rows[0]! : -1
  const listCells = base === -1 ? count : 0
  const keys = entries.map(({ key }) => key)
  const directoryCells = countDirectoryCells(keys)
  const headerCells =
    HEADER_CELLS + directoryCells + CELLS_PER_ENTRY * entries.length + listCells + (moments ? 2 * count : 0)
  let start = alignBytes(headerCells * 4)
  const starts = entries.map(({ bytes }) => {
    const at = start
    start += alignBytes(bytes.length)
    return at
  })

  const segment = alloc(start)
  const cells = new Int32Array(segment.buffer, segment.byteOffset, headerCells)
  cells[COUNT] = count
  cells[ENTRIES] = entries.length
  cells[DIRECTORY_CELLS] = directoryCells
  cells[BASE] = base
  cells[HAS_MOMENTS] = moments ? 1 : 0
  let at = HEADER_CELLS
  writeDirectory(cells.subarray(at, at + directoryCells), keys)
  at += directoryCells
  entries.forEach(({ bytes, cardinality }, i) => {
    cells[at + i] = starts[i]!
    cells[at + entries.length + i] = bytes.length
    cells[at + 2 * entries.length + i] = cardinality
    segment.set(bytes, starts[i])
  })
  at += CELLS_PER_ENTRY * entries.length
  if (listCells) cells.set(rows as ArrayLike<number>, at)
  at += listCells
  if (moments) {
    cells.set(moments.from, at)
    cells.set(moments.to, at + count)
  }
  return segment
}

/** A segment as a thread reads it. */
export class Segment {
  readonly bytes: Uint8Array
  /** Number of rows. */
  readonly count: number
  /** True if at least one row has dates. */
  readonly hasMoments: boolean
  readonly #base: number
  readonly #cells: Int32Array
  readonly #directory: Directory
  readonly #entries: number
  readonly #size: number
  readonly #rows: number
  readonly #moments: number

  constructor(bytes: Uint8Array) {
    const cells = new Int32Array(bytes.buffer, bytes.byteOffset, bytes.length >> 2)
    this.bytes = bytes
    this.#cells = cells
    this.count = cells[COUNT]!
    this.hasMoments = cells[HAS_MOMENTS] === 1
    this.#base = cells[BASE]!
    this.#size = cells[ENTRIES]!
    this.#entries = HEADER_CELLS + cells[DIRECTORY_CELLS]!
    this.#rows = this.#entries + CELLS_PER_ENTRY * this.#size
    this.#moments = this.#rows + (this.#base === -1 ? this.count : 0)
    this.#directory = readDirectory(cells.subarray(HEADER_CELLS, this.#entries))
  }

  /** Number of entries: sets and other data. */
  get size(): number {
    return this.#size
  }

  /** Returns the position of a key's set, or -1. */
  findPosition(key: number): number {
    return findPosition(this.#directory, key)
  }

  getCardinality(position: number): number {
    return this.#cells[this.#entries + 2 * this.#size + position]!
  }

  /** Returns the size of a set (bytes). */
  getByteLength(position: number): number {
    return this.#cells[this.#entries + this.#size + position]!
  }

  getSet(position: number): Uint8Array {
    const start = this.#cells[this.#entries + position]!
    return this.bytes.subarray(start, start + this.getByteLength(position))
  }

  /** Returns the start of a set, in words of 32 bits. */
  getWordStart(position: number): number {
    return this.#cells[this.#entries + position]! >> 2
  }

  get words(): Int32Array {
    return this.#cells
  }

  getRow(ordinal: number): number {
    return this.#base === -1 ? this.#cells[this.#rows + ordinal]! : this.#base + ordinal
  }

  getFrom(ordinal: number): number {
    return this.hasMoments ? fromSaturated(this.#cells[this.#moments + ordinal]!) : FIRST_MOMENT
  }

  getTo(ordinal: number): number {
    return this.hasMoments ? fromSaturated(this.#cells[this.#moments + this.count + ordinal]!) : LAST_MOMENT
  }

  /** Returns the number of characteristics of a row; 0 if no row is a default row. */
  getChars(ordinal: number): number {
    const position = this.findPosition(CHARS_KEY)
    return position < 0 ? 0 : this.bytes[this.#cells[this.#entries + position]! + ordinal]!
  }

  /** Returns the rank of a default row. */
  getRank(ordinal: number): number {
    return toRank(this.getChars(ordinal), this.getFrom(ordinal))
  }

  /** @param at a saturated moment */
  isValidAt(ordinal: number, at: number): boolean {
    if (!this.hasMoments) return true
    const cell = this.#moments + ordinal
    return this.#cells[cell]! <= at && at < this.#cells[cell + this.count]!
  }

  /** Returns the keys of sets that belong to terms. */
  getValueTerms(): number[] {
    return this.keys().flatMap(([key]) => (key >= 0 ? [key] : []))
  }

  /** Returns every key with the position of its set. */
  keys(): [key: number, position: number][] {
    return listKeys(this.#directory)
  }
}
