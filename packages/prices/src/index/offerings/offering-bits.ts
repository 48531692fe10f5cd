import { forEachInTurns } from '@influencer-stats/runtime/async/yield'
import { ANY_TERM } from '../../core/search-query.ts'
import type { FacetSelection } from '../../core/facet-selection.ts'
import { groupByFacet, type TermSets } from '../count-facets.ts'
import { CHARS_KEY, DEFAULTS_KEY, Segment, writeSegment, type SegmentEntry } from '../sets/segment.ts'
import { NO_RANK } from '../rank.ts'
import type { ColumnSource } from './columns.ts'
import {
  toBytes,
  listGroupsAndSpecs,
  createPartitionsEntry,
  PARTITIONS_KEY,
  PartitionTable,
  readPartitions,
  readRows,
  splitIntoPartitions,
  type Partition,
} from './partitions.ts'
import { createCharsEntry, toSegmentRows, type OfferingCodec } from './offering-codec.ts'
import { readWholeRows, createWholeRows, WHOLE_ROWS_KEY, type WholeRows } from './whole-rows.ts'

// The key of the entry with the words of all bitsets.
const WORDS_KEY = -4
const NO_BYTES = new Uint8Array(0)

const countWords = ({ first, end }: Partition) => Math.ceil((end - first) / 32)

/** Returns the first word of each partition, and the number of all words. In a partition the words are in the order of sets. */
function computeStarts(partitions: readonly Partition[], sets: number): { starts: number[]; words: number } {
  let words = 0
  const starts = partitions.map((partition) => {
    const start = words
    words += countWords(partition) * sets
    return start
  })
  return { starts, words }
}

/** Encodes a bitset per value, partition by partition, and decodes the rows. */
export const bitsetCodec: OfferingCodec = {
  encode(ascending) {
    const { rows, partitions } = splitIntoPartitions(ascending)
    const sets = new Map<number, { position: number; cardinality: number }>()
    for (const { values, isDefault } of rows) {
      for (const key of isDefault ? [...values, DEFAULTS_KEY] : values) {
        const set = sets.get(key)
        if (set) set.cardinality++
        else sets.set(key, { position: sets.size, cardinality: 1 })
      }
    }
    const { starts, words } = computeStarts(partitions, sets.size)
    const bits = new Int32Array(words)
    partitions.forEach((partition, i) => {
      for (let ordinal = partition.first; ordinal < partition.end; ordinal++) {
        const { values, isDefault } = rows[ordinal]!
        const within = ordinal - partition.first
        for (const key of isDefault ? [...values, DEFAULTS_KEY] : values)
          bits[starts[i]! + sets.get(key)!.position * countWords(partition) + (within >> 5)]! |= 1 << (within & 31)
      }
    })
    const entries: SegmentEntry[] = Array.from(sets, ([key, { cardinality }]) => ({
      key,
      cardinality,
      bytes: NO_BYTES,
    }))
    entries.push(
      createPartitionsEntry(partitions),
      { key: WORDS_KEY, cardinality: words, bytes: toBytes(bits) },
      ...createCharsEntry(rows),
      ...createWholeRows(rows, partitions),
    )
    return writeSegment({ ...toSegmentRows(rows), entries })
  },

  decode(bytes) {
    const bits = new OfferingBits(ANY_TERM, bytes)
    return readRows(bits.segment, bits)
  },
}

/** A partition with the start of its words, and the number of words of each bitset. */
export interface PartitionBits extends Partition {
  readonly start: number
  readonly words: number
}

/** The rows of one offering in bitsets, as a thread searches them. */
export class OfferingBits implements ColumnSource {
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
    const base = segment.getWordStart(segment.findPosition(WORDS_KEY))
    this.wholeRows = readWholeRows(segment)
    const others = [PARTITIONS_KEY, WORDS_KEY, CHARS_KEY, WHOLE_ROWS_KEY].filter(
      (key) => segment.findPosition(key) >= 0,
    )
    const { starts } = computeStarts(partitions, segment.size - others.length)
    this.segment = segment
    this.partitions = new PartitionTable(
      partitions.map((partition, i) => ({ ...partition, start: base + starts[i]!, words: countWords(partition) })),
    )
    this.defaults = segment.findPosition(DEFAULTS_KEY)
  }

  get count(): number {
    return this.segment.count
  }

  get isValidAt(): ColumnSource['isValidAt'] {
    return this.segment.hasMoments ? (ordinal, at) => this.segment.isValidAt(ordinal, at) : undefined
  }

  getValueTerms(): number[] {
    return this.segment.getValueTerms()
  }

  /** Returns the rank of an ordinal of a partition; `NO_RANK` if it is not a default row. */
  getRank(partition: PartitionBits, ordinal: number): number {
    return this.#isDefault(partition, ordinal) ? this.segment.getRank(ordinal) : NO_RANK
  }

  #isDefault({ first, start, words }: PartitionBits, ordinal: number): boolean {
    const within = ordinal - first
    const word = start + this.defaults * words + (within >> 5)
    return this.defaults >= 0 && ((this.segment.words[word]! >> (within & 31)) & 1) === 1
  }

  /** Returns the sets of the rows by term. A set has all words of a bitset, partition by partition. */
  createTermSets(selection: FacetSelection): TermSets<Int32Array> {
    const { segment, partitions } = this
    const { words } = segment
    const { list } = partitions
    const offering = this.#offering
    const length = list.reduce((sum, partition) => sum + partition.words, 0)

    return {
      facets: (this.#facets ??= groupByFacet(
        [offering, ...listGroupsAndSpecs(list), ...segment.getValueTerms()],
        selection,
      )),
      unite(terms) {
        if (terms[0] === offering) return undefined
        const set = new Int32Array(length)
        for (const term of terms) {
          const position = segment.findPosition(term)
          let at = 0
          for (const { group, spec, first, end, start, words: size } of list) {
            const from = start + position * size
            const isNamed = position < 0 && (group === term || spec === term)
            for (let i = 0; i < size; i++, at++)
              if (position >= 0) set[at]! |= words[from + i]!
              else if (isNamed) set[at]! |= toFullWord(end - first, i)
          }
        }
        return set
      },
      findValidAt(moment) {
        if (!segment.hasMoments) return undefined
        const set = new Int32Array(length)
        let at = 0
        for (const { first, end, words: size } of list) {
          for (let ordinal = first; ordinal < end; ordinal++)
            if (segment.isValidAt(ordinal, moment)) set[at + ((ordinal - first) >> 5)]! |= 1 << ((ordinal - first) & 31)
          at += size
        }
        return set
      },
      async findTested(test) {
        const set = new Int32Array(length)
        let at = 0
        for (const { first, end, words: size } of list) {
          const start = at
          await forEachInTurns(end - first, (i) => {
            if (test(segment.getRow(first + i))) set[start + (i >> 5)]! |= 1 << (i & 31)
          })
          at += size
        }
        return set
      },
      subtract: (from, set) => from.map((word, at) => word & ~set[at]!),
      intersect([first, ...rest]) {
        const common = first!.slice()
        for (const set of rest) for (let at = 0; at < length; at++) common[at]! &= set[at]!
        return common
      },
      count(term, within) {
        const position = segment.findPosition(term)
        if (position >= 0 && !within) return segment.getCardinality(position)
        let count = 0
        let at = 0
        for (const { group, spec, first, end, start, words: size } of list) {
          const from = start + position * size
          if (position >= 0) for (let i = 0; i < size; i++) count += countBits(words[from + i]! & within![at + i]!)
          else if (group === term || spec === term || offering === term)
            count += within ? countSetBits(within.subarray(at, at + size)) : end - first
          at += size
        }
        return count
      },
      size: (set) => (set ? countSetBits(set) : segment.count),
    }
  }

  forEachOrdinal(key: number, visit: (ordinal: number) => void): void {
    const position = this.segment.findPosition(key)
    if (position < 0) return
    for (const { first, start, words } of this.partitions.list) {
      for (let word = 0; word < words; word++) {
        let bits = this.segment.words[start + position * words + word]!
        for (; bits !== 0; bits &= bits - 1) visit(toOrdinal(first, word, bits))
      }
    }
  }
}

/** Returns the ordinal of the lowest set bit of a word. */
export const toOrdinal = (first: number, word: number, bits: number) =>
  first + (word << 5) + 31 - Math.clz32(bits & -bits)

/** Returns a word of the set of all rows of a partition. */
export const toFullWord = (ordinals: number, word: number) =>
  ordinals - (word << 5) >= 32 ? -1 : (1 << (ordinals & 31)) - 1

/** Returns how many bits of a word are set. */
function countBits(word: number): number {
  const pairs = word - ((word >>> 1) & 0x5555_5555)
  const fours = (pairs & 0x3333_3333) + ((pairs >>> 2) & 0x3333_3333)
  return Math.imul((fours + (fours >>> 4)) & 0x0f0f_0f0f, 0x0101_0101) >>> 24
}

function countSetBits(set: Int32Array): number {
  let size = 0
  for (let at = 0; at < set.length; at++) size += countBits(set[at]!)
  return size
}
