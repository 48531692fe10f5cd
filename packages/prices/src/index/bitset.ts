import type { Choice, Query } from '../core/query.ts'
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
import { countSets } from './facets.ts'
import { Columns, type PlaceTest } from './offerings/columns.ts'
import { allOf, bitsets, OfferingBits, placeIn, type PartitionBits } from './offerings/offering-bits.ts'
import { leftInPartitions } from './offerings/partitions.ts'
import { buildOfferings, updateOfferings } from './offerings/placed-row.ts'
import { NOT_WHOLE, WholeRowFinder } from './offerings/whole-rows.ts'
import { tallyOf } from './sets/intersection.ts'
import type { Segment } from './sets/segment.ts'

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
