import type { Choice, Query } from '../core/query.ts'
import type { FacetCounts, Selection } from '../core/selection.ts'
import { VersionedList } from '../core/versioned-list.ts'
import { countSets } from './facets.ts'
import {
  foundOf,
  NO_ROWS,
  NONE,
  type IndexKind,
  type PriceIndex,
  type Rows,
  type Segments,
  type Visit,
} from './index.ts'
import { Columns } from './offerings/columns.ts'
import {
  createBitmapCodec,
  OfferingBitmaps,
  type PartitionSet,
  type PartitionView,
  type SetTools,
} from './offerings/offering-bitmaps.ts'
import { leftInPartitions, type Partition } from './offerings/partitions.ts'
import { buildOfferings, updateOfferings } from './offerings/placed-row.ts'
import { NOT_WHOLE, WholeRowFinder } from './offerings/whole-rows.ts'
import { CONTAINER } from './sets/frozen-containers.ts'
import { decide, Intersection, placesIn, tallyOf, type Places } from './sets/intersection.ts'
import { Leapfrog } from './sets/leapfrog.ts'
import { loadRoaring } from './sets/roaring-library.ts'
import { createRoaringSets, Scratch, type LazyViews, type RoaringSets } from './sets/roaring-sets.ts'

/**
 * Roaring bitmaps per offering. The rows of each group and spec begin a container of their own, so that an intersection
 * which begins with the set of all of them touches no other containers: 0.9 us instead of 1.9 with sets of groups and of
 * specs over one row of places. Where a set is small, which in complete queries it is, all are read where they lie, in half
 * the time that the library's calls take. Needs the roaring library.
 */
export async function createRoaringOfferingIndex(): Promise<IndexKind> {
  const roaring = await loadRoaring()
  const sets = createRoaringSets(roaring)
  const codec = createBitmapCodec(sets)
  return {
    build: (table) => buildOfferings(table, codec),
    update: (segments, changes) => updateOfferings(segments, changes, codec),
    read(segments) {
      const tools = {
        sets,
        scratch: new Scratch(roaring),
        intersection: new Intersection(new roaring.RoaringBitmap32()),
        leapfrog: new Leapfrog(),
        columns: new Columns(),
        whole: new WholeRowFinder(),
      }
      return new RoaringOfferingIndex(tools, VersionedList.of(offeringsOf(segments, sets)))
    },
  }
}

const isOneContainer = ({ first, end }: Partition) => end - first <= CONTAINER

/** What an index works with. Those of one thread share it, as one is done before the next begins. */
interface Tools extends SetTools {
  readonly intersection: Intersection
  readonly leapfrog: Leapfrog
  readonly columns: Columns
  readonly whole: WholeRowFinder
}

class RoaringOfferingIndex implements PriceIndex {
  readonly #tools: Tools
  readonly #offerings: VersionedList<OfferingBitmaps>
  readonly #intersection: Intersection
  readonly #leapfrog: Leapfrog
  readonly #columns: Columns
  readonly #whole: WholeRowFinder

  constructor(tools: Tools, offerings: VersionedList<OfferingBitmaps>) {
    this.#tools = tools
    this.#offerings = offerings
    this.#intersection = tools.intersection
    this.#leapfrog = tools.leapfrog
    this.#columns = tools.columns
    this.#whole = tools.whole
  }

  with(changed: Segments): PriceIndex {
    return new RoaringOfferingIndex(this.#tools, this.#offerings.with(offeringsOf(changed, this.#tools.sets)))
  }

  find(query: Query): number {
    const offering = this.#offerings.get(query.offering)
    const partition = offering?.partitions.find(query.group, query.spec)
    if (!partition) return NONE
    const { segment } = offering!.views
    const { at, choices } = query
    let places: Places = this.#whole.found
    let found = this.#whole.find(offering!.wholeRows, query, partition)
    if (found === NOT_WHOLE) {
      places = this.#leapfrog.found
      found = this.#leap(offering!, partition, query)
    }
    // By far the most searches end here.
    if (found === 1 && choices.length === 0 && (at === undefined || !segment.dated))
      return segment.rowAt(partition.first + places[0]!)
    if (found === 0) return NONE
    return this.#decide(offering!, partition, query, found < 0 ? undefined : places.subarray(0, found))
  }

  /** How many places `#leapfrog.found` lists; -1 where there are too many to walk. */
  #leap(
    { views: { segment }, containers }: OfferingBitmaps,
    partition: PartitionSet,
    { values, count }: Query,
  ): number {
    if (count === 0 || !isOneContainer(partition)) return -1
    const leapfrog = this.#leapfrog
    const container = partition.base / CONTAINER
    leapfrog.clear(containers, partition.end - partition.first)
    for (let i = 0; i < count; i++) {
      const position = segment.positionOf(values[i]!)
      if (position < 0 || !leapfrog.add(containers, containers.cellOf(position, container))) return 0
    }
    return leapfrog.suits ? leapfrog.run() : -1
  }

  /** @param listed what was found, counted from the partition's first place; nothing where that is yet to be done */
  #decide(offering: OfferingBitmaps, partition: PartitionView, query: Query, listed: Places | undefined): number {
    const { views } = offering
    const { first, base } = partition
    const isDefault = this.#isDefault(offering, partition)
    const test = this.#columns.testOf(offering, query.choices, query.at)
    const fits = test && ((place: number) => test(first + place))
    let place: number
    if (listed) place = foundOf(tallyOf(listed, isDefault, fits))
    else if (!this.#gather(views, query)) return NONE
    else place = decide(this.#intersection.run(views.get(partition.position)), base, isDefault, fits)
    return place < 0 ? place : views.segment.rowAt(first + place)
  }

  #isDefault({ views, defaults }: OfferingBitmaps, { base }: PartitionView): ((place: number) => boolean) | undefined {
    return defaults < 0 ? undefined : (place) => views.get(defaults).has(base + place)
  }

  each(query: Query, visit: Visit, except: Rows = NO_ROWS): void {
    const offering = this.#offerings.get(query.offering)
    const partition = offering?.partitions.find(query.group, query.spec)
    if (!partition || !this.#gather(offering!.views, query)) return
    const { views } = offering!
    const { first, base } = partition
    const test = this.#columns.testOf(offering!, query.choices, query.at)
    const isDefault = this.#isDefault(offering!, partition)
    for (const place of placesIn(this.#intersection.run(views.get(partition.position)), base)) {
      const row = views.segment.rowAt(first + place)
      if (!except.has(row) && (!test || test(first + place))) visit(row, isDefault?.(place) ?? false)
    }
  }

  async count(selection: Selection, counts: FacetCounts): Promise<void> {
    for (const [, offering] of this.#offerings.entries())
      await countSets(offering.termSets(this.#tools, selection), selection, counts)
  }

  left(query: Query, choices: readonly Choice[]): number[] {
    return leftInPartitions(query, choices, this.#offerings.get(query.offering), this.#columns)
  }

  /** Gathers the bitmaps to intersect besides that of the partition; false where one of them is empty. */
  #gather(views: LazyViews, { values, count }: Query): boolean {
    const { segment } = views
    this.#intersection.clear()
    for (let i = 0; i < count; i++) {
      const position = segment.positionOf(values[i]!)
      if (position < 0) return false
      this.#intersection.add(views.get(position), segment.bytesOf(position))
    }
    return true
  }
}

const offeringsOf = (segments: Segments, sets: RoaringSets): [number: number, offering: OfferingBitmaps][] =>
  Array.from(segments, ([number, bytes]) => [number, new OfferingBitmaps(number, bytes, sets)])
