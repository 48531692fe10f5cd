import type { Query } from '../core/query.ts'
import { hasDates } from '../core/rows.ts'
import { ambiguous, NONE, type IndexKind, type PriceIndex, type Segments } from './index.ts'
import {
  bytesOf,
  PARTITIONS,
  partitionsEntry,
  PartitionTable,
  readPartitions,
  readRows,
  splitIntoPartitions,
  type Partition,
} from './offerings/partitions.ts'
import { buildOfferings, updateOfferings, type OfferingCodec } from './offerings/placed-row.ts'
import { Segment, writeSegment, type SegmentEntry } from './sets/segment.ts'

// Sets besides those of terms.
const DEFAULTS = -2
const WORDS = -4
const NO_BYTES = new Uint8Array(0)

/**
 * One plain bitset per offering and value, split by group and spec, so that a query, which names both, looks at the words
 * of its partition only: a tenth of them in the sample, and all of a partition's bitsets lie together.
 */
export function createBitsetIndex(): IndexKind {
  return {
    build: (table) => buildOfferings(table, bitsets),
    update: (segments, changes) => updateOfferings(segments, changes, bitsets),
    read: (segments) => new BitsetIndex(bitsOf(segments)),
  }
}

const wordsOf = ({ first, end }: Partition) => Math.ceil((end - first) / 32)

/** Where the words of each partition begin: those of its first set, then of its second... */
function startsOf(partitions: readonly Partition[], sets: number): { starts: number[]; words: number } {
  let words = 0
  const starts = partitions.map((partition) => {
    const start = words
    words += wordsOf(partition) * sets
    return start
  })
  return { starts, words }
}

const bitsets: OfferingCodec = {
  encode(unordered) {
    const { rows, partitions } = splitIntoPartitions(unordered)
    const sets = new Map<number, { position: number; cardinality: number }>()
    for (const { values, isDefault } of rows) {
      for (const key of isDefault ? [...values, DEFAULTS] : values) {
        const set = sets.get(key)
        if (set) set.cardinality++
        else sets.set(key, { position: sets.size, cardinality: 1 })
      }
    }
    const { starts, words } = startsOf(partitions, sets.size)
    const bits = new Int32Array(words)
    partitions.forEach((partition, i) => {
      for (let place = partition.first; place < partition.end; place++) {
        const { values, isDefault } = rows[place]!
        const within = place - partition.first
        for (const key of isDefault ? [...values, DEFAULTS] : values)
          bits[starts[i]! + sets.get(key)!.position * wordsOf(partition) + (within >> 5)]! |= 1 << (within & 31)
      }
    })
    const entries: SegmentEntry[] = Array.from(sets, ([key, { cardinality }]) => ({
      key,
      cardinality,
      bytes: NO_BYTES,
    }))
    entries.push(partitionsEntry(partitions), { key: WORDS, cardinality: words, bytes: bytesOf(bits) })
    const days = rows.some(hasDates)
      ? { from: Int32Array.from(rows, ({ from }) => from), to: Int32Array.from(rows, ({ to }) => to) }
      : undefined
    return writeSegment({ rows: rows.map(({ row }) => row), days, entries })
  },

  decode(bytes) {
    const { segment, partitions } = new OfferingBits(bytes)
    const rows = readRows(segment, partitions.list)
    for (const [key, position] of segment.keys()) {
      if (key === PARTITIONS || key === WORDS) continue
      for (const { first, end, start, words } of partitions.list) {
        for (let place = first; place < end; place++) {
          const within = place - first
          if (((segment.words[start + position * words + (within >> 5)]! >> (within & 31)) & 1) === 0) continue
          if (key === DEFAULTS) rows[place]!.isDefault = true
          else rows[place]!.values.push(key)
        }
      }
    }
    return rows
  },
}

/** A partition with where its words begin and how many each of its bitsets has. */
interface PartitionBits extends Partition {
  readonly start: number
  readonly words: number
}

/** The rows of one offering as a thread searches them. */
class OfferingBits {
  readonly segment: Segment
  readonly partitions: PartitionTable<PartitionBits>
  /** The position of the set of the default rows, or -1. */
  readonly defaults: number

  constructor(bytes: Uint8Array) {
    const segment = new Segment(bytes)
    const partitions = readPartitions(segment)
    const base = segment.wordOf(segment.positionOf(WORDS))
    const { starts } = startsOf(partitions, segment.size - 2)
    this.segment = segment
    this.partitions = new PartitionTable(
      partitions.map((partition, i) => ({ ...partition, start: base + starts[i]!, words: wordsOf(partition) })),
    )
    this.defaults = segment.positionOf(DEFAULTS)
  }
}

const bitsOf = (segments: Segments): Map<number, OfferingBits> =>
  new Map(Array.from(segments, ([offering, bytes]) => [offering, new OfferingBits(bytes)]))

const MOST = 128
const RAREST = 3
const NO_ROW = -1

class BitsetIndex implements PriceIndex {
  readonly #offerings: Map<number, OfferingBits>
  // The positions of the sets to intersect, the three rarest first.
  readonly #positions = new Int32Array(MOST)
  readonly #sizes = new Int32Array(MOST)
  #any: Int32Array[] = []
  // What the partitions scanned so far have given.
  #found = 0
  #first = NO_ROW
  #chosen = NO_ROW

  constructor(offerings: Map<number, OfferingBits>) {
    this.#offerings = offerings
  }

  with(changed: Segments): PriceIndex {
    return new BitsetIndex(new Map([...this.#offerings, ...bitsOf(changed)]))
  }

  find(query: Query): number {
    const bits = this.#offerings.get(query.offering)
    const partition = bits?.partitions.find(query.group, query.spec)
    if (!partition || !this.#gather(bits!.segment, query)) return NONE
    this.#begin()
    this.#scan(bits!, partition, query)
    if (this.#found === 0) return NONE
    const place = this.#found === 1 ? this.#first : this.#chosen
    return place === NO_ROW ? ambiguous(this.#found) : bits!.segment.rowAt(place)
  }

  count(query: Query): number {
    const bits = this.#offerings.get(query.offering)
    if (!bits || !this.#gather(bits.segment, query)) return 0
    this.#begin()
    for (const partition of bits.partitions.matching(query)) this.#scan(bits, partition, query)
    return this.#found
  }

  #begin(): void {
    this.#found = 0
    this.#first = NO_ROW
    this.#chosen = NO_ROW
  }

  /** Finds the sets of a query; false where there is no such set. */
  #gather(segment: Segment, { values, count, any }: Query): boolean {
    const positions = this.#positions
    const sizes = this.#sizes
    for (let i = 0; i < count; i++) {
      const position = segment.positionOf(values[i]!)
      if (position < 0) return false
      const size = segment.cardinality(position)
      let at = i
      if (i >= RAREST) {
        // Only which ones are the rarest matters: sorting twenty costs as much as intersecting them.
        at = size < sizes[RAREST - 1]! ? RAREST - 1 : i
        sizes[i] = sizes[at]!
        positions[i] = positions[at]!
      }
      for (; at > 0 && at < RAREST && sizes[at - 1]! > size; at--) {
        sizes[at] = sizes[at - 1]!
        positions[at] = positions[at - 1]!
      }
      sizes[at] = size
      positions[at] = position
    }
    if (any.length === 0 && this.#any.length === 0) return true
    this.#any = any.map((terms) => terms.map((term) => segment.positionOf(term)).filter((position) => position >= 0))
    return this.#any.every(({ length }) => length > 0)
  }

  #scan({ segment, defaults }: OfferingBits, partition: PartitionBits, { count, at }: Query): void {
    const { words } = segment
    const { first, end, start, words: length } = partition
    const positions = this.#positions
    // The three rarest are intersected without a look in between: whether a word is empty after one or two is a guess that
    // the processor gets wrong at every other word.
    const a = count > 0 ? start + positions[0]! * length : 0
    const b = count > 1 ? start + positions[1]! * length : a
    const c = count > 2 ? start + positions[2]! * length : b
    for (let word = 0; word < length; word++) {
      let bits = count > 0 ? words[a + word]! & words[b + word]! & words[c + word]! : allOf(end - first, word)
      if (bits === 0) continue
      for (let i = RAREST; i < count && bits !== 0; i++) bits &= words[start + positions[i]! * length + word]!
      for (const union of this.#any) {
        let either = 0
        for (const position of union) either |= words[start + position * length + word]!
        bits &= either
      }
      for (; bits !== 0; bits &= bits - 1) {
        const place = first + (word << 5) + 31 - Math.clz32(bits & -bits)
        if (at !== undefined && !segment.validOn(place, at)) continue
        if (this.#found++ === 0) this.#first = place
        if (defaults < 0 || this.#chosen !== NO_ROW) continue
        if ((words[start + defaults * length + word]! & bits & -bits) !== 0) this.#chosen = place
      }
    }
  }
}

/** A word of the set of all places of a partition. */
const allOf = (places: number, word: number) => (places - (word << 5) >= 32 ? -1 : (1 << (places & 31)) - 1)
