import type { Segment } from './segment.ts'

// CRoaring's frozen format: bitsets, runs (start, length - 1) and arrays. Then follow the key of each container (the
// bits of its values above the lowest 16), its count (the number of values - 1, or the number of runs) and its type. The
// last word has the number of containers, above 15 bits of magic.
const BITSET = 1
const ARRAY = 2
const RUN = 3
const BITSET_UNITS = 4_096
const HEADER_BYTES = 4
const MAGIC_BITS = 15
const BYTES_PER_CONTAINER = 5

/** Number of values that share a container of a bitmap. */
export const CONTAINER_VALUES = 65_536

// The table has two cells per container. The first is its start (in units of 16 bits). The second has the number of
// values (17 bits), the number of intervals (13 bits), and a flag for runs. Intervals are the runs of a container, or the
// single values of an array. A bitset has none.
const CELLS_PER_CONTAINER = 2
const SIZE_BITS = 17
const INTERVALS_BITS = 13
const sizeMask = (1 << SIZE_BITS) - 1
const intervalsMask = (1 << INTERVALS_BITS) - 1

/**
 * The locations of the containers of a segment's bitmaps, by bitmap and key, for direct reads. A native call costs 20
 * ns and passes through six objects that are rarely in the processor's cache; a lookup here costs 2 ns.
 */
export class FrozenContainers {
  /** The segment in units of 16 bits. */
  readonly units: Uint16Array
  readonly #cells: Int32Array
  readonly #sets: number

  /** @param sets the positions of bitmaps; @param keys maximum number of containers of a bitmap */
  constructor(segment: Segment, sets: Iterable<number>, keys: number) {
    const { buffer, byteOffset, byteLength } = segment.bytes
    this.units = new Uint16Array(buffer, byteOffset, byteLength >> 1)
    this.#sets = segment.size
    this.#cells = new Int32Array(segment.size * keys * CELLS_PER_CONTAINER)
    for (const position of sets) this.#read(segment, position)
  }

  /** Returns the cell of a bitmap's container, which is the argument of the other methods. */
  getCell(position: number, key: number): number {
    return (key * this.#sets + position) * CELLS_PER_CONTAINER
  }

  /** Returns the start of a container (in units of 16 bits). */
  getStart(cell: number): number {
    return this.#cells[cell]!
  }

  /** Returns the number of runs as a negative number, or the number of single values; 0 for a bitset. */
  getIntervals(cell: number): number {
    const shape = this.#cells[cell + 1]!
    const intervals = (shape >>> SIZE_BITS) & intervalsMask
    return shape < 0 ? -intervals : intervals
  }

  /** Returns the number of values; 0 if there is no container. */
  getSize(cell: number): number {
    return this.#cells[cell + 1]! & sizeMask
  }

  #read(segment: Segment, position: number): void {
    const bytes = segment.getSet(position)
    const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength)
    const count = view.getUint32(bytes.length - HEADER_BYTES, true) >>> MAGIC_BITS
    const keys = bytes.length - HEADER_BYTES - BYTES_PER_CONTAINER * count
    const counts = keys + 2 * count
    const types = counts + 2 * count
    const containers = Array.from({ length: count }, (_, i) => ({
      key: view.getUint16(keys + 2 * i, true),
      count: view.getUint16(counts + 2 * i, true),
      type: view.getUint8(types + i),
    }))
    let start = (segment.getWordStart(position) << 2) >> 1
    for (const containerType of [BITSET, RUN, ARRAY]) {
      for (const { key, count: written, type } of containers) {
        if (type !== containerType) continue
        const cell = this.getCell(position, key)
        this.#cells[cell] = start
        let size = written + 1
        let intervals = type === BITSET ? 0 : size
        if (type === RUN) {
          size = 0
          intervals = written
          for (let run = 0; run < written; run++) size += this.units[start + 2 * run + 1]! + 1
        }
        this.#cells[cell + 1] = size | (intervals << SIZE_BITS) | (type === RUN ? 1 << 31 : 0)
        start += type === BITSET ? BITSET_UNITS : type === RUN ? 2 * written : written + 1
      }
    }
  }
}
