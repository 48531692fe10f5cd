import type { ReadonlyRoaringBitmap32 } from 'roaring'
import { FREE } from '../../core/query.ts'
import type { Selection } from '../../core/selection.ts'
import { byFacet, type TermSets } from '../facets.ts'
import { CONTAINER, FrozenContainers } from '../sets/frozen-containers.ts'
import { LazyViews, type RoaringSets, type Scratch } from '../sets/roaring-sets.ts'
import { DEFAULTS, Segment } from '../sets/segment.ts'
import type { Placed } from './columns.ts'
import {
  namesIn,
  PARTITIONS,
  partitionsEntry,
  partitionsWith,
  PartitionTable,
  readPartitions,
  readRows,
  splitIntoPartitions,
  type Partition,
} from './partitions.ts'
import { numbersAndDaysOf, type OfferingCodec } from './placed-row.ts'
import { readWholeRows, WHOLE_ROWS, wholeRowsOf, type WholeRows } from './whole-rows.ts'

// The sets of all rows of a partition have the keys from here downwards.
const FIRST_PARTITION = -16

/** A partition with where its places begin in bitmaps, and the key of the set of them all. */
export interface PartitionSet extends Partition {
  readonly base: number
  readonly key: number
}

function toSets(partitions: readonly Partition[]): PartitionSet[] {
  let base = 0
  return partitions.map((partition, i) => {
    const set = { ...partition, base, key: FIRST_PARTITION - i }
    base += Math.ceil((partition.end - partition.first) / CONTAINER) * CONTAINER
    return set
  })
}

/** Writes a bitmap per value, partition and default, and reads the rows back. */
export function createBitmapCodec(sets: RoaringSets): OfferingCodec {
  return {
    encode(ascending) {
      const { rows, partitions } = splitIntoPartitions(ascending)
      const places = new Map<number, number[]>()
      const add = (key: number, place: number) => {
        const list = places.get(key)
        if (list) list.push(place)
        else places.set(key, [place])
      }
      for (const { first, end, base, key } of toSets(partitions)) {
        for (let i = first; i < end; i++) {
          const { values, isDefault } = rows[i]!
          const place = base + i - first
          add(key, place)
          for (const value of values) add(value, place)
          if (isDefault) add(DEFAULTS, place)
        }
      }
      const entries = Array.from(places, ([key, list]) => sets.fromPlaces(key, list))
      return sets.write({
        ...numbersAndDaysOf(rows),
        entries: [...entries, partitionsEntry(partitions), ...wholeRowsOf(rows, partitions)],
      })
    },

    decode(bytes) {
      const offering = new OfferingBitmaps(FREE, bytes, sets)
      return readRows(offering.views.segment, offering)
    },
  }
}

/** What sets of terms are made with. */
export interface SetTools {
  readonly sets: RoaringSets
  readonly scratch: Scratch
}

/** A partition with where the set of all its places lies. */
export interface PartitionView extends PartitionSet {
  readonly position: number
}

/** The rows of one offering in bitmaps, as a thread searches them. */
export class OfferingBitmaps implements Placed {
  readonly views: LazyViews
  readonly partitions: PartitionTable<PartitionView>
  /** The position of the set of the default rows, or -1. */
  readonly defaults: number
  readonly wholeRows: WholeRows | undefined
  readonly #offering: number
  #containers: FrozenContainers | undefined
  #facets: TermSets<unknown>['facets'] | undefined
  /** The sets of all rows of an offering, a group, a spec. */
  #named: ReadonlyMap<number, ReadonlyRoaringBitmap32> | undefined

  constructor(offering: number, bytes: Uint8Array, sets: RoaringSets) {
    this.#offering = offering
    const segment = new Segment(bytes)
    this.views = new LazyViews(segment, sets)
    this.partitions = new PartitionTable(
      toSets(readPartitions(segment)).map((partition) => ({
        ...partition,
        position: segment.positionOf(partition.key),
      })),
    )
    this.defaults = segment.positionOf(DEFAULTS)
    this.wholeRows = readWholeRows(segment)
  }

  get count(): number {
    return this.views.segment.count
  }

  get validOn(): Placed['validOn'] {
    const { segment } = this.views
    return segment.dated ? (place, day) => segment.validOn(place, day) : undefined
  }

  valueTerms(): number[] {
    return this.views.segment.valueTerms()
  }

  eachPlace(key: number, visit: (place: number) => void): void {
    const position = this.views.segment.positionOf(key)
    if (position < 0) return
    const { list } = this.partitions
    let partition = 0
    for (const place of this.views.get(position).toUint32Array()) {
      while (partition + 1 < list.length && place >= list[partition + 1]!.base) partition++
      const { first, base } = list[partition]!
      visit(first + place - base)
    }
  }

  /** The sets of its rows, by term. */
  termSets({ sets, scratch }: SetTools, selection: Selection): TermSets<ReadonlyRoaringBitmap32> {
    const { views, partitions } = this
    const { segment } = views
    const { list } = partitions
    const offering = this.#offering
    const { any, and, done } = scratch.begin()
    const named = (this.#named ??= new Map(
      [offering, ...namesIn(list)].map((term) => [
        term,
        sets.union(partitionsWith(list, term, offering).map(({ position }) => views.get(position))),
      ]),
    ))
    const setOf = (term: number) => named.get(term) ?? views.get(segment.positionOf(term))
    return {
      facets: (this.#facets ??= byFacet([...named.keys(), ...segment.valueTerms()], selection)),
      any(terms) {
        if (terms[0] === offering) return undefined
        return any(terms.map(setOf))
      },
      validOn(day) {
        if (!segment.dated) return undefined
        const places: number[] = []
        for (const { first, end, base } of list)
          for (let place = first; place < end; place++)
            if (segment.validOn(place, day)) places.push(base + place - first)
        return sets.fromRows(places)
      },
      and,
      count(term, within) {
        const set = named.get(term)
        if (set) return within ? set.andCardinality(within) : set.size
        const position = segment.positionOf(term)
        return within ? views.get(position).andCardinality(within) : segment.cardinality(position)
      },
      size: (set) => (set ? set.size : segment.count),
      done,
    }
  }

  /** Made when first wanted: where a search ends here. */
  get containers(): FrozenContainers {
    return (this.#containers ??= this.#readContainers())
  }

  #readContainers(): FrozenContainers {
    const { segment } = this.views
    const last = this.partitions.list.at(-1)!
    const keys = Math.ceil((last.base + last.end - last.first) / CONTAINER)
    const sets = segment
      .keys()
      .flatMap(([key, position]) => (key === PARTITIONS || key === WHOLE_ROWS ? [] : [position]))
    return new FrozenContainers(segment, sets, keys)
  }
}
