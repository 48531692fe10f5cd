import type { Choice, SearchQuery } from '../core/search-query.ts'
import type { FacetCounts, FacetSelection } from '../core/facet-selection.ts'
import { VersionedList } from '../core/collections/versioned-list.ts'
import {
  toAmbiguous,
  toFindResult,
  NO_ROWS,
  NO_MATCH,
  readSegments,
  type IndexKind,
  type PriceIndex,
  type RowSet,
  type SegmentChanges,
  type RowVisitor,
} from './price-index.ts'
import { NO_RANK } from './rank.ts'
import { countSets } from './count-facets.ts'
import { Columns, type OrdinalTest } from './offerings/columns.ts'
import { toFullWord, bitsetCodec, OfferingBits, toOrdinal, type PartitionBits } from './offerings/offering-bits.ts'
import { explainPartitions } from './offerings/partitions.ts'
import { buildOfferings, updateOfferings } from './offerings/offering-codec.ts'
import { NO_COUNT, WholeRowFinder } from './offerings/whole-rows.ts'
import { tallyOrdinals } from './sets/intersection.ts'
import type { Segment } from './sets/segment.ts'

/**
 * One plain bitset per offering and value, split by group and spec. A query names both, so it reads only the words of
 * its partition: a tenth of them in the sample. All bitsets of a partition are adjacent.
 */
export function createBitsetIndex(): IndexKind {
  return {
    build: (table) => buildOfferings(table, bitsetCodec),
    update: (segments, changes) => updateOfferings(segments, changes, bitsetCodec),
    read: (segments) => new BitsetIndex(VersionedList.fromEntries(readSegments(segments, readOffering))),
  }
}

const readOffering = (bytes: Uint8Array, offering: number) => new OfferingBits(offering, bytes)

/** Maximum number of sets of one search. */
const MAX_SETS = 128
/** Number of the rarest sets, which are moved to the front in ascending order of size. */
const RAREST_SETS = 3
const NO_ROW = -1

class BitsetIndex implements PriceIndex {
  readonly #offerings: VersionedList<OfferingBits>
  // The positions of the sets to intersect, the three rarest first.
  readonly #positions = new Int32Array(MAX_SETS)
  readonly #sizes = new Int32Array(MAX_SETS)
  readonly #columns = new Columns()
  readonly #whole = new WholeRowFinder()
  // The result of the last scan.
  #found = 0
  #first = NO_ROW
  #bestDefault = NO_ROW
  #bestRank = NO_RANK

  constructor(offerings: VersionedList<OfferingBits>) {
    this.#offerings = offerings
  }

  with(changed: SegmentChanges): PriceIndex {
    return new BitsetIndex(this.#offerings.with(readSegments(changed, readOffering)))
  }

  find(query: SearchQuery): number {
    const bits = this.#offerings.get(query.offering)
    const partition = bits?.partitions.find(query.group, query.spec)
    if (!partition) return NO_MATCH
    const whole = this.#whole.find(bits!.wholeRows, query, partition)
    if (whole !== NO_COUNT) return this.#pickRow(bits!, partition, query, whole)
    if (!this.#collectSets(bits!.segment, query)) return NO_MATCH
    const { count, choices, at } = query
    this.#scan(bits!, partition, count, this.#columns.createTest(bits!, choices, at))
    if (this.#found === 0) return NO_MATCH
    const ordinal = this.#found === 1 ? this.#first : this.#bestDefault
    return ordinal === NO_ROW ? toAmbiguous(this.#found) : bits!.segment.getRow(ordinal)
  }

  /** Returns the result of `find` from the matches of `WholeRowFinder`. @param whole number of these matches */
  #pickRow(bits: OfferingBits, partition: PartitionBits, { choices, at }: SearchQuery, whole: number): number {
    const { segment, defaults } = bits
    const { first } = partition
    const ordinals = this.#whole.found
    // By far the largest share of searches ends here.
    if (whole === 1 && choices.length === 0 && (at === undefined || !segment.hasMoments))
      return segment.getRow(first + ordinals[0]!)
    const test = this.#columns.createTest(bits, choices, at)
    const isMatch = test && ((ordinal: number) => test(first + ordinal))
    const getRank = defaults < 0 ? undefined : (ordinal: number) => bits.getRank(partition, first + ordinal)
    const ordinal = toFindResult(tallyOrdinals(ordinals.subarray(0, whole), getRank, isMatch))
    return ordinal < 0 ? ordinal : segment.getRow(first + ordinal)
  }

  forEach(query: SearchQuery, visit: RowVisitor, except: RowSet = NO_ROWS): void {
    const bits = this.#offerings.get(query.offering)
    if (!bits || !this.#collectSets(bits.segment, query)) return
    const test = this.#columns.createTest(bits, query.choices, query.at)
    for (const partition of bits.partitions.select(query.group, query.spec))
      this.#scan(bits, partition, query.count, (ordinal) => {
        const row = bits.segment.getRow(ordinal)
        const isCounted = !except.has(row) && (!test || test(ordinal))
        if (isCounted) visit(row, bits.getRank(partition, ordinal))
        return isCounted
      })
  }

  async count(selection: FacetSelection, counts: FacetCounts): Promise<void> {
    for (const [, bits] of this.#offerings.entries()) await countSets(bits.createTermSets(selection), selection, counts)
  }

  explain(query: SearchQuery, choices: readonly Choice[]): number[] {
    return explainPartitions(query, choices, this.#offerings.get(query.offering), this.#columns)
  }

  /**
   * Collects the sets of a query.
   * @returns false if a set does not exist
   */
  #collectSets(segment: Segment, { values, count }: SearchQuery): boolean {
    const positions = this.#positions
    const sizes = this.#sizes
    for (let i = 0; i < count; i++) {
      const position = segment.findPosition(values[i]!)
      if (position < 0) return false
      const size = segment.getCardinality(position)
      let at = i
      if (i >= RAREST_SETS) {
        // Only the three rarest must come first: to sort twenty sets costs as much as to intersect them.
        at = size < sizes[RAREST_SETS - 1]! ? RAREST_SETS - 1 : i
        sizes[i] = sizes[at]!
        positions[i] = positions[at]!
      }
      for (; at > 0 && at < RAREST_SETS && sizes[at - 1]! > size; at--) {
        sizes[at] = sizes[at - 1]!
        positions[at] = positions[at - 1]!
      }
      sizes[at] = size
      positions[at] = position
    }
    return true
  }

  /**
   * Intersects the collected sets within a partition. Sets `#found`, `#first` and `#bestDefault`.
   * @param count number of collected sets
   * @param isMatch an additional condition on a row
   */
  #scan(offering: OfferingBits, partition: PartitionBits, count: number, isMatch: OrdinalTest | undefined): void {
    this.#found = 0
    this.#first = NO_ROW
    this.#bestDefault = NO_ROW
    this.#bestRank = NO_RANK
    const { defaults } = offering
    const { words } = offering.segment
    const { first, end, start, words: length } = partition
    const positions = this.#positions
    // The three rarest are intersected without a check in between: a check for an empty word after one or two of them
    // is a branch that the processor mispredicts at every other word.
    const a = count > 0 ? start + positions[0]! * length : 0
    const b = count > 1 ? start + positions[1]! * length : a
    const c = count > 2 ? start + positions[2]! * length : b
    for (let word = 0; word < length; word++) {
      let bits = count > 0 ? words[a + word]! & words[b + word]! & words[c + word]! : toFullWord(end - first, word)
      if (bits === 0) continue
      for (let i = RAREST_SETS; i < count && bits !== 0; i++) bits &= words[start + positions[i]! * length + word]!
      for (; bits !== 0; bits &= bits - 1) {
        const ordinal = toOrdinal(first, word, bits)
        if (isMatch && !isMatch(ordinal)) continue
        if (this.#found++ === 0) this.#first = ordinal
        else if (defaults >= 0) {
          // Ranks do not matter before the second match.
          if (this.#found === 2) this.#considerDefault(offering, partition, this.#first)
          this.#considerDefault(offering, partition, ordinal)
        }
      }
    }
  }

  #considerDefault(offering: OfferingBits, partition: PartitionBits, ordinal: number): void {
    const rank = offering.getRank(partition, ordinal)
    if (rank <= this.#bestRank) return
    this.#bestDefault = ordinal
    this.#bestRank = rank
  }
}
