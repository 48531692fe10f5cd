import { DAY_MINUTES, FIRST_MOMENT, LAST_MOMENT } from './values/moment.ts'

/** One price. `offering`, `group`, `spec` and `values` are terms (see `Terms`). */
export interface PriceRow {
  readonly offering: number
  readonly group: number
  readonly spec: number
  /** The terms of its values. Those of a list are adjacent. */
  readonly values: readonly number[] | Int32Array
  readonly isDefault: boolean
  /** Number of its characteristics. */
  readonly chars: number
  /** The first moment at which it is valid, and the first at which it is no longer valid. */
  readonly from: number
  readonly to: number
}

// Offsets of the fields within a row's part of `#data`.
const OFFERING = 0
const GROUP = 1
const SPEC = 2
const FLAGS = 3
const FROM_DAY = 4
/** The last day. */
const TO_DAY = 5
const VALUES = 6

// The bits of the flags. Older versions wrote the first one only, so without the others a row is valid on whole days.
const DEFAULT_FLAG = 1
const FROM_MINUTE_SHIFT = 1
/** The minute of the last day at which the validity ends; 0 if it includes the whole day. */
const TO_MINUTE_SHIFT = 12
const MINUTE_MASK = 0x7ff
/** The number of characteristics, of which there are at most 100; 0 if it is the number of values. */
const CHARS_SHIFT = 23
// The cells of missing moments.
const NO_FROM_DAY = -0x8000_0000
const NO_TO_DAY = 0x7fff_ffff

/**
 * Rows as flat arrays: 2 million rows of 20 characteristics take 220 MB, and 1 GB as objects. A deleted row has the
 * length 0.
 */
export class RowTable {
  #ends: Float64Array
  #data: Int32Array
  #size = 0

  constructor(rows = 1_024, cells = 16_384) {
    this.#ends = new Float64Array(rows)
    this.#data = new Int32Array(cells)
  }

  get size(): number {
    return this.#size
  }

  /** Memory that the rows use (cells). */
  get cells(): number {
    return this.#start(this.#size)
  }

  #start(row: number): number {
    return row === 0 ? 0 : this.#ends[row - 1]!
  }

  has(row: number): boolean {
    return this.#ends[row]! > this.#start(row)
  }

  getOffering(row: number): number {
    return this.#data[this.#start(row) + OFFERING]!
  }

  get(row: number): PriceRow | undefined {
    const start = this.#start(row)
    const end = this.#ends[row]!
    if (end === start) return undefined
    return readRow(this.#data, start, end)
  }

  /** Adds the number of rows of each term to `counts`, for the rows from `from` up to, not including, `to`. */
  countTerms(counts: Uint32Array, from: number, to: number): void {
    const data = this.#data
    let start = this.#start(from)
    for (let row = from; row < to; row++) {
      const end = this.#ends[row]!
      if (end > start) {
        counts[data[start + OFFERING]!]!++
        counts[data[start + GROUP]!]!++
        counts[data[start + SPEC]!]!++
        for (let at = start + VALUES; at < end; at++) counts[data[at]!]!++
      }
      start = end
    }
  }

  /**
   * Adds to `found` the characteristics of which a row from `from` up to, not including, `to` has several values.
   * @param chars the characteristic of each value
   */
  findLists(chars: Int32Array, from: number, to: number, found: Set<number>): void {
    const data = this.#data
    let start = this.#start(from)
    for (let row = from; row < to; row++) {
      const end = this.#ends[row]!
      let previous = -1
      for (let at = start + VALUES; at < end; at++) {
        const char = chars[data[at]!]!
        if (char === previous) found.add(char)
        previous = char
      }
      start = end
    }
  }

  push(row: PriceRow | undefined): void {
    const start = this.#size === 0 ? 0 : this.#ends[this.#size - 1]!
    const end = row ? start + VALUES + row.values.length : start
    if (this.#size === this.#ends.length) this.#ends = growArray(this.#ends, Float64Array)
    while (end > this.#data.length) this.#data = growArray(this.#data, Int32Array)
    if (row) {
      const data = this.#data
      data[start + OFFERING] = row.offering
      data[start + GROUP] = row.group
      data[start + SPEC] = row.spec
      writeFlags(data, start, row)
      data.set(row.values, start + VALUES)
    }
    this.#ends[this.#size++] = end
  }

  /** Appends a row of another table. */
  append(other: RowTable, row: number): void {
    const start = this.#size === 0 ? 0 : this.#ends[this.#size - 1]!
    const cells = other.#data.subarray(other.#start(row), other.#ends[row])
    const end = start + cells.length
    if (this.#size === this.#ends.length) this.#ends = growArray(this.#ends, Float64Array)
    while (end > this.#data.length) this.#data = growArray(this.#data, Int32Array)
    this.#data.set(cells, start)
    this.#ends[this.#size++] = end
  }

  /** Returns the rows from `from` up to, not including, `to` as bytes. */
  encode(from: number, to: number): Uint8Array {
    const start = this.#start(from)
    const end = to === 0 ? 0 : this.#ends[to - 1]!
    const cells = new Int32Array(1 + (to - from) + (end - start))
    cells[0] = to - from
    for (let row = from; row < to; row++) cells[1 + row - from] = this.#ends[row]! - start
    cells.set(this.#data.subarray(start, end), 1 + to - from)
    return new Uint8Array(cells.buffer)
  }

  /** Appends rows that `encode` returned. */
  decode(bytes: Uint8Array): void {
    const cells = new Int32Array(copyAligned(bytes))
    const count = cells[0]!
    const base = this.#size === 0 ? 0 : this.#ends[this.#size - 1]!
    const data = cells.subarray(1 + count)
    while (this.#size + count > this.#ends.length) this.#ends = growArray(this.#ends, Float64Array)
    while (base + data.length > this.#data.length) this.#data = growArray(this.#data, Int32Array)
    this.#data.set(data, base)
    for (let i = 0; i < count; i++) this.#ends[this.#size + i] = base + cells[1 + i]!
    this.#size += count
  }
}

function writeFlags(data: Int32Array, start: number, row: PriceRow): void {
  const { isDefault, chars, values, from, to } = row
  const fromDay = from === FIRST_MOMENT ? NO_FROM_DAY : Math.floor(from / DAY_MINUTES)
  const fromMinute = from === FIRST_MOMENT ? 0 : from - fromDay * DAY_MINUTES
  const toDay = to === LAST_MOMENT ? NO_TO_DAY : Math.ceil(to / DAY_MINUTES) - 1
  const toMinute = to === LAST_MOMENT ? 0 : (to - toDay * DAY_MINUTES) % DAY_MINUTES
  const lists = chars === values.length ? 0 : chars
  const flags = (fromMinute << FROM_MINUTE_SHIFT) | (toMinute << TO_MINUTE_SHIFT) | (lists << CHARS_SHIFT)
  data[start + FLAGS] = isDefault ? flags | DEFAULT_FLAG : flags
  data[start + FROM_DAY] = fromDay
  data[start + TO_DAY] = toDay
}

function readRow(data: Int32Array, start: number, end: number) {
  const flags = data[start + FLAGS]!
  const fromDay = data[start + FROM_DAY]!
  const toDay = data[start + TO_DAY]!
  const toMinute = (flags >> TO_MINUTE_SHIFT) & MINUTE_MASK
  return {
    offering: data[start + OFFERING]!,
    group: data[start + GROUP]!,
    spec: data[start + SPEC]!,
    isDefault: (flags & DEFAULT_FLAG) !== 0,
    chars: flags >> CHARS_SHIFT || end - start - VALUES,
    from: fromDay === NO_FROM_DAY ? FIRST_MOMENT : fromDay * DAY_MINUTES + ((flags >> FROM_MINUTE_SHIFT) & MINUTE_MASK),
    to: toDay === NO_TO_DAY ? LAST_MOMENT : toDay * DAY_MINUTES + (toMinute === 0 ? DAY_MINUTES : toMinute),
    values: data.subarray(start + VALUES, end),
  }
}

/** Returns a copy of one existing row of those that `encode` returned. */
export function decodeRow(bytes: Uint8Array, index: number): PriceRow {
  const cells = new Int32Array(copyAligned(bytes))
  const ends = 1 + cells[0]!
  const start = index === 0 ? 0 : cells[index]!
  const row = readRow(cells, ends + start, ends + cells[1 + index]!)
  return { ...row, values: [...row.values] }
}

function growArray<A extends Float64Array | Int32Array>(array: A, Type: new (length: number) => A): A {
  const larger = new Type(Math.max(1, array.length * 2))
  larger.set(array)
  return larger
}

/** Copies the bytes to a new buffer; `slice` of a Buffer does not copy. */
const copyAligned = (bytes: Uint8Array): ArrayBuffer => new Uint8Array(bytes).buffer

export const hasMoments = ({ from, to }: Pick<PriceRow, 'from' | 'to'>) => from !== FIRST_MOMENT || to !== LAST_MOMENT
