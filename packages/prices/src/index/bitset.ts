import { FREE, type Choice, type Query } from '../core/query.ts'
import { hasDates } from '../core/rows.ts'
import type { FacetCounts, Selection } from '../core/selection.ts'
import { VersionedList } from '../core/versioned-list.ts'
import {
  ambiguous,
  foundOf,
  NO_ROWS,
  NONE,
  type IndexKind,
  type PriceIndex,
  type Rows,
  type Segments,
  type Visit,
} from './index.ts'
import { byFacet, countSets, type TermSets } from './facets.ts'
import { Columns, type Placed, type PlaceTest } from './offerings/columns.ts'
import {
  bytesOf,
  leftInPartitions,
  namesIn,
  partitionsEntry,
  PartitionTable,
  readPartitions,
  readRows,
  splitIntoPartitions,
  type Partition,
} from './offerings/partitions.ts'
import { buildOfferings, updateOfferings, type OfferingCodec } from './offerings/placed-row.ts'
import { NOT_WHOLE, readWholeRows, WholeRowFinder, wholeRowsOf, type WholeRows } from './offerings/whole-rows.ts'
import { tallyOf } from './sets/intersection.ts'
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
    read: (segments) => new BitsetIndex(VersionedList.of(bitsOf(segments))),
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
    entries.push(
      partitionsEntry(partitions),
      { key: WORDS, cardinality: words, bytes: bytesOf(bits) },
      ...wholeRowsOf(rows, partitions),
    )
    const days = rows.some(hasDates)
      ? { from: Int32Array.from(rows, ({ from }) => from), to: Int32Array.from(rows, ({ to }) => to) }
      : undefined
    return writeSegment({ rows: rows.map(({ row }) => row), days, entries })
  },

  decode(bytes) {
    const bits = new OfferingBits(FREE, bytes)
    const rows = readRows(bits.segment, bits.partitions.list)
    for (const term of bits.valueTerms()) bits.eachPlace(term, (place) => rows[place]!.values.push(term))
    bits.eachPlace(DEFAULTS, (place) => (rows[place]!.isDefault = true))
    return rows
  },
}

/** A partition with where its words begin and how many each of its bitsets has. */
interface PartitionBits extends Partition {
  readonly start: number
  readonly words: number
}

/** The rows of one offering as a thread searches them. */
class OfferingBits implements Placed {
  readonly segment: Segment
  readonly partitions: PartitionTable<PartitionBits>
  /** The position of the set of the default rows, or -1. */
  readonly defaults: number
  readonly wholeRows: WholeRows | undefined
  readonly #offering: number
  #facets: TermSets<unknown>['facets'] | undefined

  constructor(offering: number, bytes: Uint8Array) {
    this.#offering = offering
    const segment = new Segment(bytes)
    const partitions = readPartitions(segment)
    const base = segment.wordOf(segment.positionOf(WORDS))
    this.wholeRows = readWholeRows(segment)
    const { starts } = startsOf(partitions, segment.size - (this.wholeRows ? 3 : 2))
    this.segment = segment
    this.partitions = new PartitionTable(
      partitions.map((partition, i) => ({ ...partition, start: base + starts[i]!, words: wordsOf(partition) })),
    )
    this.defaults = segment.positionOf(DEFAULTS)
  }

  get count(): number {
    return this.segment.count
  }

  get validOn(): Placed['validOn'] {
    return this.segment.dated ? (place, day) => this.segment.validOn(place, day) : undefined
  }

  valueTerms(): number[] {
    return this.segment.valueTerms()
  }

  /** Whether a place of a partition is of a default row. */
  isDefault({ first, start, words }: PartitionBits, place: number): boolean {
    const within = place - first
    const word = start + this.defaults * words + (within >> 5)
    return this.defaults >= 0 && ((this.segment.words[word]! >> (within & 31)) & 1) === 1
  }

  /** The sets of its rows by term: a word for each of a bitset's, partition by partition. */
  termSets(selection: Selection): TermSets<Int32Array> {
    const { segment, partitions } = this
    const { words } = segment
    const { list } = partitions
    const offering = this.#offering
    const length = list.reduce((sum, partition) => sum + partition.words, 0)

    return {
      facets: (this.#facets ??= byFacet([offering, ...namesIn(list), ...segment.valueTerms()], selection)),
      any(terms) {
        if (terms[0] === offering) return undefined
        const set = new Int32Array(length)
        for (const term of terms) {
          const position = segment.positionOf(term)
          let at = 0
          for (const { group, spec, first, end, start, words: size } of list) {
            const from = start + position * size
            const isNamed = position < 0 && (group === term || spec === term)
            for (let i = 0; i < size; i++, at++)
              if (position >= 0) set[at]! |= words[from + i]!
              else if (isNamed) set[at]! |= allOf(end - first, i)
          }
        }
        return set
      },
      validOn(day) {
        if (!segment.dated) return undefined
        const set = new Int32Array(length)
        let at = 0
        for (const { first, end, words: size } of list) {
          for (let place = first; place < end; place++)
            if (segment.validOn(place, day)) set[at + ((place - first) >> 5)]! |= 1 << ((place - first) & 31)
          at += size
        }
        return set
      },
      and([first, ...rest]) {
        const common = first!.slice()
        for (const set of rest) for (let at = 0; at < length; at++) common[at]! &= set[at]!
        return common
      },
      count(term, within) {
        const position = segment.positionOf(term)
        if (position >= 0 && !within) return segment.cardinality(position)
        let count = 0
        let at = 0
        for (const { group, spec, first, end, start, words: size } of list) {
          const from = start + position * size
          if (position >= 0) for (let i = 0; i < size; i++) count += bitsIn(words[from + i]! & within![at + i]!)
          else if (group === term || spec === term || offering === term)
            count += within ? sizeOf(within.subarray(at, at + size)) : end - first
          at += size
        }
        return count
      },
      size: (set) => (set ? sizeOf(set) : segment.count),
    }
  }

  eachPlace(key: number, visit: (place: number) => void): void {
    const position = this.segment.positionOf(key)
    if (position < 0) return
    for (const { first, start, words } of this.partitions.list) {
      for (let word = 0; word < words; word++) {
        let bits = this.segment.words[start + position * words + word]!
        for (; bits !== 0; bits &= bits - 1) visit(placeIn(first, word, bits))
      }
    }
  }
}

const bitsOf = (segments: Segments): [offering: number, bits: OfferingBits][] =>
  Array.from(segments, ([offering, bytes]) => [offering, new OfferingBits(offering, bytes)])

const MOST = 128
const RAREST = 3
const NO_ROW = -1

class BitsetIndex implements PriceIndex {
  readonly #offerings: VersionedList<OfferingBits>
  // The positions of the sets to intersect, the three rarest first.
  readonly #positions = new Int32Array(MOST)
  readonly #sizes = new Int32Array(MOST)
  readonly #columns = new Columns()
  readonly #whole = new WholeRowFinder()
  // What the last scan has given.
  #found = 0
  #first = NO_ROW
  #chosen = NO_ROW

  constructor(offerings: VersionedList<OfferingBits>) {
    this.#offerings = offerings
  }

  with(changed: Segments): PriceIndex {
    return new BitsetIndex(this.#offerings.with(bitsOf(changed)))
  }

  find(query: Query): number {
    const bits = this.#offerings.get(query.offering)
    const partition = bits?.partitions.find(query.group, query.spec)
    if (!partition) return NONE
    const whole = this.#whole.find(bits!.wholeRows, query, partition)
    if (whole !== NOT_WHOLE) return this.#decide(bits!, partition, query, whole)
    if (!this.#gather(bits!.segment, query)) return NONE
    const { count, choices, at } = query
    this.#scan(bits!, partition, count, this.#columns.testOf(bits!, choices, at))
    if (this.#found === 0) return NONE
    const place = this.#found === 1 ? this.#first : this.#chosen
    return place === NO_ROW ? ambiguous(this.#found) : bits!.segment.rowAt(place)
  }

  /** @param whole how many rows were found whole */
  #decide(bits: OfferingBits, partition: PartitionBits, { choices, at }: Query, whole: number): number {
    const { segment, defaults } = bits
    const { first } = partition
    const places = this.#whole.found
    // By far the most searches end here.
    if (whole === 1 && choices.length === 0 && (at === undefined || !segment.dated))
      return segment.rowAt(first + places[0]!)
    const test = this.#columns.testOf(bits, choices, at)
    const fits = test && ((place: number) => test(first + place))
    const isDefault = defaults < 0 ? undefined : (place: number) => bits.isDefault(partition, first + place)
    const place = foundOf(tallyOf(places.subarray(0, whole), isDefault, fits))
    return place < 0 ? place : segment.rowAt(first + place)
  }

  each(query: Query, visit: Visit, except: Rows = NO_ROWS): void {
    const bits = this.#offerings.get(query.offering)
    const partition = bits?.partitions.find(query.group, query.spec)
    if (!partition || !this.#gather(bits!.segment, query)) return
    const test = this.#columns.testOf(bits!, query.choices, query.at)
    this.#scan(bits!, partition, query.count, (place) => {
      const row = bits!.segment.rowAt(place)
      const counts = !except.has(row) && (!test || test(place))
      if (counts) visit(row, bits!.isDefault(partition, place))
      return counts
    })
  }

  async count(selection: Selection, counts: FacetCounts): Promise<void> {
    for (const [, bits] of this.#offerings.entries()) await countSets(bits.termSets(selection), selection, counts)
  }

  left(query: Query, choices: readonly Choice[]): number[] {
    return leftInPartitions(query, choices, this.#offerings.get(query.offering), this.#columns)
  }

  /** Finds the sets of a query; false where there is no such set. */
  #gather(segment: Segment, { values, count }: Query): boolean {
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
    return true
  }

  /** @param fits what a row has to be besides */
  #scan(
    { segment, defaults }: OfferingBits,
    partition: PartitionBits,
    count: number,
    fits: PlaceTest | undefined,
  ): void {
    this.#found = 0
    this.#first = NO_ROW
    this.#chosen = NO_ROW
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
      for (; bits !== 0; bits &= bits - 1) {
        const place = placeIn(first, word, bits)
        if (fits && !fits(place)) continue
        if (this.#found++ === 0) this.#first = place
        if (defaults < 0 || this.#chosen !== NO_ROW) continue
        if ((words[start + defaults * length + word]! & bits & -bits) !== 0) this.#chosen = place
      }
    }
  }
}

/** The place of the lowest bit of a word. */
const placeIn = (first: number, word: number, bits: number) => first + (word << 5) + 31 - Math.clz32(bits & -bits)

/** A word of the set of all places of a partition. */
const allOf = (places: number, word: number) => (places - (word << 5) >= 32 ? -1 : (1 << (places & 31)) - 1)

/** How many bits of a word are set. */
function bitsIn(word: number): number {
  const pairs = word - ((word >>> 1) & 0x5555_5555)
  const fours = (pairs & 0x3333_3333) + ((pairs >>> 2) & 0x3333_3333)
  return Math.imul((fours + (fours >>> 4)) & 0x0f0f_0f0f, 0x0101_0101) >>> 24
}

function sizeOf(set: Int32Array): number {
  let size = 0
  for (let at = 0; at < set.length; at++) size += bitsIn(set[at]!)
  return size
}
