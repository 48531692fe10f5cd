import { forEachInTurns } from '@influencer-stats/runtime/async/yield'
import type { ReadonlyRoaringBitmap32 } from 'roaring'
import { ANY_TERM } from '../../core/search-query.ts'
import type { FacetSelection } from '../../core/facet-selection.ts'
import { groupByFacet, type TermSets } from '../count-facets.ts'
import { CONTAINER_VALUES, FrozenContainers } from '../sets/frozen-containers.ts'
import { LazyViews, type RoaringSets, type ScratchBitmaps } from '../sets/roaring-sets.ts'
import { CHARS_KEY, DEFAULTS_KEY, Segment } from '../sets/segment.ts'
import type { ColumnSource } from './columns.ts'
import {
  listGroupsAndSpecs,
  PARTITIONS_KEY,
  createPartitionsEntry,
  filterPartitions,
  PartitionTable,
  readPartitions,
  readRows,
  splitIntoPartitions,
  type Partition,
} from './partitions.ts'
import { createCharsEntry, toSegmentRows, type OfferingCodec } from './offering-codec.ts'
import { readWholeRows, WHOLE_ROWS_KEY, createWholeRows, type WholeRows } from './whole-rows.ts'

/** Keys of entries that are not sets. */
const NO_SETS: ReadonlySet<number> = new Set([PARTITIONS_KEY, WHOLE_ROWS_KEY, CHARS_KEY])

// Each partition has a set of all its rows. The first of these sets has this key, the next one this key - 1, and so on.
const FIRST_PARTITION_KEY = -16

/** A partition, the number of its first row in bitmaps (`base`), and the key of the set of all its rows. */
export interface PartitionSet extends Partition {
  readonly base: number
  readonly key: number
}

function toSets(partitions: readonly Partition[]): PartitionSet[] {
  let base = 0
  return partitions.map((partition, i) => {
    const set = { ...partition, base, key: FIRST_PARTITION_KEY - i }
    base += Math.ceil((partition.end - partition.first) / CONTAINER_VALUES) * CONTAINER_VALUES
    return set
  })
}

/** Encodes a bitmap per value, a bitmap per partition and one of the default rows. Decodes the rows from these bitmaps. */
export function createBitmapCodec(sets: RoaringSets): OfferingCodec {
  return {
    encode(ascending) {
      const { rows, partitions } = splitIntoPartitions(ascending)
      const ordinals = new Map<number, number[]>()
      const add = (key: number, ordinal: number) => {
        const list = ordinals.get(key)
        if (list) list.push(ordinal)
        else ordinals.set(key, [ordinal])
      }
      for (const { first, end, base, key } of toSets(partitions)) {
        for (let i = first; i < end; i++) {
          const { values, isDefault } = rows[i]!
          const ordinal = base + i - first
          add(key, ordinal)
          for (const value of values) add(value, ordinal)
          if (isDefault) add(DEFAULTS_KEY, ordinal)
        }
      }
      const entries = Array.from(ordinals, ([key, list]) => sets.createEntry(key, list))
      return sets.write({
        ...toSegmentRows(rows),
        entries: [
          ...entries,
          createPartitionsEntry(partitions),
          ...createCharsEntry(rows),
          ...createWholeRows(rows, partitions),
        ],
      })
    },

    decode(bytes) {
      const offering = new OfferingBitmaps(ANY_TERM, bytes, sets)
      return readRows(offering.views.segment, offering)
    },
  }
}

/** Tools for bitmaps, which all versions of an index in a thread share. */
export interface BitmapTools {
  readonly sets: RoaringSets
  readonly scratch: ScratchBitmaps
}

/** A partition with the position of the set of all its rows. */
export interface PartitionView extends PartitionSet {
  readonly position: number
}

/** The rows of one offering in bitmaps, as a thread searches them. */
export class OfferingBitmaps implements ColumnSource {
  readonly views: LazyViews
  readonly partitions: PartitionTable<PartitionView>
  /** The position of the set of the default rows, or -1. */
  readonly defaults: number
  readonly wholeRows: WholeRows | undefined
  readonly #offering: number
  #containers: FrozenContainers | undefined
  #facets: TermSets<unknown>['facets'] | undefined
  /** By term: the set of all rows of the offering, of a group or of a spec. */
  #named: ReadonlyMap<number, ReadonlyRoaringBitmap32> | undefined

  constructor(offering: number, bytes: Uint8Array, sets: RoaringSets) {
    this.#offering = offering
    const segment = new Segment(bytes)
    this.views = new LazyViews(segment, sets)
    this.partitions = new PartitionTable(
      toSets(readPartitions(segment)).map((partition) => ({
        ...partition,
        position: segment.findPosition(partition.key),
      })),
    )
    this.defaults = segment.findPosition(DEFAULTS_KEY)
    this.wholeRows = readWholeRows(segment)
  }

  get count(): number {
    return this.views.segment.count
  }

  get isValidAt(): ColumnSource['isValidAt'] {
    const { segment } = this.views
    return segment.hasMoments ? (ordinal, at) => segment.isValidAt(ordinal, at) : undefined
  }

  getValueTerms(): number[] {
    return this.views.segment.getValueTerms()
  }

  forEachOrdinal(key: number, visit: (ordinal: number) => void): void {
    const position = this.views.segment.findPosition(key)
    if (position < 0) return
    const { list } = this.partitions
    let partition = 0
    for (const ordinal of this.views.get(position).toUint32Array()) {
      while (partition + 1 < list.length && ordinal >= list[partition + 1]!.base) partition++
      const { first, base } = list[partition]!
      visit(first + ordinal - base)
    }
  }

  /** Returns the sets of the rows, by term. */
  createTermSets({ sets, scratch }: BitmapTools, selection: FacetSelection): TermSets<ReadonlyRoaringBitmap32> {
    const { views, partitions } = this
    const { segment } = views
    const { list } = partitions
    const offering = this.#offering
    const { unite: uniteBitmaps, subtract, intersect, release } = scratch.begin()
    const named = (this.#named ??= new Map(
      [offering, ...listGroupsAndSpecs(list)].map((term) => [
        term,
        sets.unite(filterPartitions(list, term, offering).map(({ position }) => views.get(position))),
      ]),
    ))
    const getSet = (term: number) => named.get(term) ?? views.get(segment.findPosition(term))
    return {
      facets: (this.#facets ??= groupByFacet([...named.keys(), ...segment.getValueTerms()], selection)),
      unite(terms) {
        if (terms[0] === offering) return undefined
        return uniteBitmaps(terms.map(getSet))
      },
      findValidAt(moment) {
        if (!segment.hasMoments) return undefined
        const ordinals: number[] = []
        for (const { first, end, base } of list)
          for (let ordinal = first; ordinal < end; ordinal++)
            if (segment.isValidAt(ordinal, moment)) ordinals.push(base + ordinal - first)
        return sets.createBitmap(ordinals)
      },
      async findTested(test) {
        const ordinals: number[] = []
        for (const { first, end, base } of list)
          await forEachInTurns(end - first, (i) => {
            if (test(segment.getRow(first + i))) ordinals.push(base + i)
          })
        return sets.createBitmap(ordinals)
      },
      subtract,
      intersect,
      count(term, within) {
        const set = named.get(term)
        if (set) return within ? set.andCardinality(within) : set.size
        const position = segment.findPosition(term)
        return within ? views.get(position).andCardinality(within) : segment.getCardinality(position)
      },
      size: (set) => (set ? set.size : segment.count),
      release,
    }
  }

  /** The containers, created at the first search that needs them. */
  get containers(): FrozenContainers {
    return (this.#containers ??= this.#readContainers())
  }

  #readContainers(): FrozenContainers {
    const { segment } = this.views
    const last = this.partitions.list.at(-1)!
    const keys = Math.ceil((last.base + last.end - last.first) / CONTAINER_VALUES)
    const sets = segment.keys().flatMap(([key, position]) => (NO_SETS.has(key) ? [] : [position]))
    return new FrozenContainers(segment, sets, keys)
  }
}
