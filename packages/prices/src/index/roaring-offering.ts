import type { Choice, SearchQuery } from '../core/search-query.ts'
import type { FacetCounts, FacetSelection } from '../core/facet-selection.ts'
import { VersionedList } from '../core/collections/versioned-list.ts'
import { countSets } from './count-facets.ts'
import {
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
import { Columns } from './offerings/columns.ts'
import {
  createBitmapCodec,
  OfferingBitmaps,
  type PartitionSet,
  type PartitionView,
  type BitmapTools,
} from './offerings/offering-bitmaps.ts'
import { explainPartitions, type Partition } from './offerings/partitions.ts'
import { buildOfferings, updateOfferings } from './offerings/offering-codec.ts'
import { NO_COUNT, WholeRowFinder } from './offerings/whole-rows.ts'
import { CONTAINER_VALUES } from './sets/frozen-containers.ts'
import { pickOrdinal, Intersection, toOrdinals, tallyOrdinals, type Ordinals } from './sets/intersection.ts'
import { Leapfrog } from './sets/leapfrog.ts'
import { loadRoaring } from './sets/roaring-library.ts'
import { createRoaringSets, ScratchBitmaps, type LazyViews, type RoaringSets } from './sets/roaring-sets.ts'

/**
 * Roaring bitmaps per offering. The rows of each group and spec begin a separate container of the bitmaps. An
 * intersection begins with the set of all rows of the query's group and spec, so it touches no other containers. This
 * takes 0.9 us instead of 1.9 with sets of groups and of specs over one range of rows. If a set is small, as in queries
 * that name all values of a row, all sets are read directly in their segment, in half the time of the library's calls.
 * Needs the roaring library.
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
        scratch: new ScratchBitmaps(roaring),
        intersection: new Intersection(new roaring.RoaringBitmap32()),
        leapfrog: new Leapfrog(),
        columns: new Columns(),
        whole: new WholeRowFinder(),
      }
      return new RoaringOfferingIndex(tools, VersionedList.fromEntries(readSegments(segments, createReader(sets))))
    },
  }
}

const isSingleContainer = ({ first, end }: Partition) => end - first <= CONTAINER_VALUES

/** The tools of an index. All its versions in a thread share them, because one search ends before the next begins. */
interface RoaringOfferingTools extends BitmapTools {
  readonly intersection: Intersection
  readonly leapfrog: Leapfrog
  readonly columns: Columns
  readonly whole: WholeRowFinder
}

class RoaringOfferingIndex implements PriceIndex {
  readonly #tools: RoaringOfferingTools
  readonly #offerings: VersionedList<OfferingBitmaps>
  readonly #intersection: Intersection
  readonly #leapfrog: Leapfrog
  readonly #columns: Columns
  readonly #whole: WholeRowFinder

  constructor(tools: RoaringOfferingTools, offerings: VersionedList<OfferingBitmaps>) {
    this.#tools = tools
    this.#offerings = offerings
    this.#intersection = tools.intersection
    this.#leapfrog = tools.leapfrog
    this.#columns = tools.columns
    this.#whole = tools.whole
  }

  with(changed: SegmentChanges): PriceIndex {
    return new RoaringOfferingIndex(
      this.#tools,
      this.#offerings.with(readSegments(changed, createReader(this.#tools.sets))),
    )
  }

  find(query: SearchQuery): number {
    const offering = this.#offerings.get(query.offering)
    const partition = offering?.partitions.find(query.group, query.spec)
    if (!partition) return NO_MATCH
    const { segment } = offering!.views
    const { at, choices } = query
    let ordinals: Ordinals = this.#whole.found
    let found = this.#whole.find(offering!.wholeRows, query, partition)
    if (found === NO_COUNT) {
      ordinals = this.#leapfrog.found
      found = this.#leap(offering!, partition, query)
    }
    // By far the largest share of searches ends here.
    if (found === 1 && choices.length === 0 && (at === undefined || !segment.hasMoments))
      return segment.getRow(partition.first + ordinals[0]!)
    if (found === 0) return NO_MATCH
    return this.#pickRow(offering!, partition, query, found < 0 ? undefined : ordinals.subarray(0, found))
  }

  /** Returns the number of ordinals in `#leapfrog.found`; -1 if `Leapfrog` is unsuitable for the query. */
  #leap(
    { views: { segment }, containers }: OfferingBitmaps,
    partition: PartitionSet,
    { values, count }: SearchQuery,
  ): number {
    if (count === 0 || !isSingleContainer(partition)) return -1
    const leapfrog = this.#leapfrog
    const container = partition.base / CONTAINER_VALUES
    leapfrog.clear(containers, partition.end - partition.first)
    for (let i = 0; i < count; i++) {
      const position = segment.findPosition(values[i]!)
      if (position < 0 || !leapfrog.add(containers, containers.getCell(position, container))) return 0
    }
    return leapfrog.isSuitable ? leapfrog.run() : -1
  }

  /** @param listed matches relative to the partition's first ordinal; undefined if they are not searched yet */
  #pickRow(
    offering: OfferingBitmaps,
    partition: PartitionView,
    query: SearchQuery,
    listed: Ordinals | undefined,
  ): number {
    const { views } = offering
    const { first, base } = partition
    const getRank = this.#createGetRank(offering, partition)
    const test = this.#columns.createTest(offering, query.choices, query.at)
    const isMatch = test && ((ordinal: number) => test(first + ordinal))
    let ordinal: number
    if (listed) ordinal = toFindResult(tallyOrdinals(listed, getRank, isMatch))
    else if (!this.#collectSets(views, query)) return NO_MATCH
    else ordinal = pickOrdinal(this.#intersection.run(views.get(partition.position)), base, getRank, isMatch)
    return ordinal < 0 ? ordinal : views.segment.getRow(first + ordinal)
  }

  #createGetRank(
    { views, defaults }: OfferingBitmaps,
    { first, base }: PartitionView,
  ): ((ordinal: number) => number) | undefined {
    if (defaults < 0) return undefined
    return (ordinal) => (views.get(defaults).has(base + ordinal) ? views.segment.getRank(first + ordinal) : NO_RANK)
  }

  forEach(query: SearchQuery, visit: RowVisitor, except: RowSet = NO_ROWS): void {
    const offering = this.#offerings.get(query.offering)
    if (!offering || !this.#collectSets(offering.views, query)) return
    const { views, partitions } = offering
    const test = this.#columns.createTest(offering, query.choices, query.at)
    for (const partition of partitions.select(query.group, query.spec)) {
      const { first, base } = partition
      const getRank = this.#createGetRank(offering, partition)
      for (const ordinal of toOrdinals(this.#intersection.run(views.get(partition.position)), base)) {
        const row = views.segment.getRow(first + ordinal)
        if (!except.has(row) && (!test || test(first + ordinal))) visit(row, getRank?.(ordinal) ?? NO_RANK)
      }
    }
  }

  async count(selection: FacetSelection, counts: FacetCounts): Promise<void> {
    for (const [, offering] of this.#offerings.entries())
      await countSets(offering.createTermSets(this.#tools, selection), selection, counts)
  }

  explain(query: SearchQuery, choices: readonly Choice[]): number[] {
    return explainPartitions(query, choices, this.#offerings.get(query.offering), this.#columns)
  }

  /**
   * Collects the bitmaps to intersect in addition to that of the partition.
   * @returns false if one of them does not exist
   */
  #collectSets(views: LazyViews, { values, count }: SearchQuery): boolean {
    const { segment } = views
    this.#intersection.clear()
    for (let i = 0; i < count; i++) {
      const position = segment.findPosition(values[i]!)
      if (position < 0) return false
      this.#intersection.add(views.get(position), segment.getByteLength(position))
    }
    return true
  }
}

const createReader = (sets: RoaringSets) => (bytes: Uint8Array, number: number) =>
  new OfferingBitmaps(number, bytes, sets)
