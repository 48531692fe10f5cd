import { FIRST_DAY, LAST_DAY } from '../../core/dates.ts'
import { cellsFor, keysOf, positionOf, readDirectory, writeDirectory, type Directory } from './directory.ts'

// A segment: header, directory, of all sets the starts, lengths and cardinalities, rows, first and last days, then the
// sets' bytes.
const COUNT = 0
const ENTRIES = 1
const DIRECTORY_CELLS = 2
/** The first row where rows follow each other, else -1 and a list. */
const BASE = 3
const DATED = 4
const HEADER = 8
const ENTRY = 3

/** CRoaring views nothing that starts elsewhere. */
const ALIGNMENT = 32
const aligned = (bytes: number) => Math.ceil(bytes / ALIGNMENT) * ALIGNMENT

/** The key of the set of the default rows. The keys of sets that are not of a term are negative. */
export const DEFAULTS = -2

/** A set of rows, by their places in the segment, in whatever form the index keeps sets. */
export interface SegmentEntry {
  readonly key: number
  readonly cardinality: number
  readonly bytes: Uint8Array
}

/** What a segment is made of. */
export interface SegmentSource {
  /** A row's place in the segment is its place here. */
  readonly rows: ArrayLike<number>
  /** The days of each place; nothing where no row has dates. */
  readonly days: { readonly from: Int32Array; readonly to: Int32Array } | undefined
  readonly entries: readonly SegmentEntry[]
}

function isRun(rows: ArrayLike<number>): boolean {
  for (let i = 1; i < rows.length; i++) if (rows[i] !== rows[0]! + i) return false
  return rows.length > 0
}

/** Memory that threads share. */
const allocate = (bytes: number): Uint8Array => new Uint8Array(new SharedArrayBuffer(bytes))

/** Writes a segment into shared memory. */
export function writeSegment(
  { rows, days, entries }: SegmentSource,
  alloc: (bytes: number) => Uint8Array = allocate,
): Uint8Array {
  const count = rows.length
  const base = isRun(rows) ? rows[0]! : -1
  const listed = base === -1 ? count : 0
  const keys = entries.map(({ key }) => key)
  const directoryCells = cellsFor(keys)
  const head = HEADER + directoryCells + ENTRY * entries.length + listed + (days ? 2 * count : 0)
  let start = aligned(head * 4)
  const starts = entries.map(({ bytes }) => {
    const at = start
    start += aligned(bytes.length)
    return at
  })

  const segment = alloc(start)
  const cells = new Int32Array(segment.buffer, segment.byteOffset, head)
  cells[COUNT] = count
  cells[ENTRIES] = entries.length
  cells[DIRECTORY_CELLS] = directoryCells
  cells[BASE] = base
  cells[DATED] = days ? 1 : 0
  let at = HEADER
  writeDirectory(cells.subarray(at, at + directoryCells), keys)
  at += directoryCells
  entries.forEach(({ bytes, cardinality }, i) => {
    cells[at + i] = starts[i]!
    cells[at + entries.length + i] = bytes.length
    cells[at + 2 * entries.length + i] = cardinality
    segment.set(bytes, starts[i])
  })
  at += ENTRY * entries.length
  if (listed) cells.set(rows as ArrayLike<number>, at)
  at += listed
  if (days) {
    cells.set(days.from, at)
    cells.set(days.to, at + count)
  }
  return segment
}

/** A segment as a thread reads it. */
export class Segment {
  readonly bytes: Uint8Array
  readonly count: number
  readonly dated: boolean
  readonly #base: number
  readonly #cells: Int32Array
  readonly #directory: Directory
  readonly #entries: number
  readonly #size: number
  readonly #rows: number
  readonly #days: number

  constructor(bytes: Uint8Array) {
    const cells = new Int32Array(bytes.buffer, bytes.byteOffset, bytes.length >> 2)
    this.bytes = bytes
    this.#cells = cells
    this.count = cells[COUNT]!
    this.dated = cells[DATED] === 1
    this.#base = cells[BASE]!
    this.#size = cells[ENTRIES]!
    this.#entries = HEADER + cells[DIRECTORY_CELLS]!
    this.#rows = this.#entries + ENTRY * this.#size
    this.#days = this.#rows + (this.#base === -1 ? this.count : 0)
    this.#directory = readDirectory(cells.subarray(HEADER, this.#entries))
  }

  /** How many sets it has. */
  get size(): number {
    return this.#size
  }

  /** The position of a key's set, or -1. */
  positionOf(key: number): number {
    return positionOf(this.#directory, key)
  }

  cardinality(position: number): number {
    return this.#cells[this.#entries + 2 * this.#size + position]!
  }

  /** How long a set is (bytes). */
  bytesOf(position: number): number {
    return this.#cells[this.#entries + this.#size + position]!
  }

  set(position: number): Uint8Array {
    const start = this.#cells[this.#entries + position]!
    return this.bytes.subarray(start, start + this.bytesOf(position))
  }

  /** Where a set begins, in words of 32 bits. */
  wordOf(position: number): number {
    return this.#cells[this.#entries + position]! >> 2
  }

  get words(): Int32Array {
    return this.#cells
  }

  rowAt(place: number): number {
    return this.#base === -1 ? this.#cells[this.#rows + place]! : this.#base + place
  }

  /** The place of a row, or -1, where rows ascend. */
  placeOf(row: number): number {
    let low = 0
    let high = this.count - 1
    while (low <= high) {
      const middle = (low + high) >> 1
      const found = this.rowAt(middle)
      if (found === row) return middle
      if (found < row) low = middle + 1
      else high = middle - 1
    }
    return -1
  }

  from(place: number): number {
    return this.dated ? this.#cells[this.#days + place]! : FIRST_DAY
  }

  to(place: number): number {
    return this.dated ? this.#cells[this.#days + this.count + place]! : LAST_DAY
  }

  validOn(place: number, day: number): boolean {
    return this.from(place) <= day && day <= this.to(place)
  }

  /** The keys of sets that are of terms. */
  valueTerms(): number[] {
    return this.keys().flatMap(([key]) => (key >= 0 ? [key] : []))
  }

  /** Every key with the position of its set. */
  keys(): [key: number, position: number][] {
    return keysOf(this.#directory)
  }
}
