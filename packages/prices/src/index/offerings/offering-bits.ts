import { FREE } from '../../core/query.ts'
import type { Selection } from '../../core/selection.ts'
import { byFacet, type TermSets } from '../facets.ts'
import { DEFAULTS, Segment, writeSegment, type SegmentEntry } from '../sets/segment.ts'
import type { Placed } from './columns.ts'
import {
  bytesOf,
  namesIn,
  partitionsEntry,
  PartitionTable,
  readPartitions,
  readRows,
  splitIntoPartitions,
  type Partition,
} from './partitions.ts'
import { numbersAndDaysOf, type OfferingCodec } from './placed-row.ts'
import { readWholeRows, wholeRowsOf, type WholeRows } from './whole-rows.ts'

// The key of the set of all words.
const WORDS = -4
const NO_BYTES = new Uint8Array(0)

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

/** Writes a bitset per value, partition by partition, and reads the rows back. */
export const bitsets: OfferingCodec = {
  encode(ascending) {
    const { rows, partitions } = splitIntoPartitions(ascending)
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
    return writeSegment({ ...numbersAndDaysOf(rows), entries })
  },

  decode(bytes) {
    const bits = new OfferingBits(FREE, bytes)
    return readRows(bits.segment, bits)
  },
}

/** A partition with where its words begin and how many each of its bitsets has. */
export interface PartitionBits extends Partition {
  readonly start: number
  readonly words: number
}

/** The rows of one offering in bitsets, as a thread searches them. */
export class OfferingBits implements Placed {
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

/** The place of the lowest bit of a word. */
export const placeIn = (first: number, word: number, bits: number) =>
  first + (word << 5) + 31 - Math.clz32(bits & -bits)

/** A word of the set of all places of a partition. */
export const allOf = (places: number, word: number) => (places - (word << 5) >= 32 ? -1 : (1 << (places & 31)) - 1)

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
