import type { ReadonlyRoaringBitmap32 } from 'roaring'
import { ANY_TERM, type Choice, type SearchQuery } from '../core/search-query.ts'
import type { FacetCounts, FacetSelection } from '../core/facet-selection.ts'
import { VersionedList } from '../core/collections/versioned-list.ts'
import { forEachInTurns, yieldTurn } from '@influencer-stats/runtime/async/yield'
import { countSets } from './count-facets.ts'
import { FIRST_MOMENT } from '../core/values/moment.ts'
import { NO_RANK, toRank } from './rank.ts'
import { explainTests } from './explain-tests.ts'
import { Columns, type ColumnSource } from './offerings/columns.ts'
import {
  NO_ROWS,
  NO_MATCH,
  type IndexKind,
  type PriceIndex,
  type RowSet,
  type SegmentChanges,
  type RowVisitor,
} from './price-index.ts'
import { pickOrdinal, Intersection, toOrdinals } from './sets/intersection.ts'
import { loadRoaring, type Roaring } from './sets/roaring-library.ts'
import { createRoaringSets, ScratchBitmaps, type LazyViews, type RoaringSets } from './sets/roaring-sets.ts'
import { CHARS_KEY, DEFAULTS_KEY } from './sets/segment.ts'
import {
  buildTermSegments,
  FROM_KEY,
  TO_KEY,
  ROWS_SEGMENT,
  FIRST_SEGMENT,
  toSegmentNumber,
  readOfferingTerms,
  updateTermSegments,
  createViews,
} from './sets/term-segments.ts'

/** Roaring bitmaps over the whole catalog: the offering is a condition like any other. Needs the roaring library. */
export async function createRoaringIndex(): Promise<IndexKind> {
  const roaring = await loadRoaring()
  const sets = createRoaringSets(roaring)
  return {
    build: (table) => buildTermSegments(table, sets),
    update: (segments, changes) => updateTermSegments(segments, changes, sets),
    read(segments) {
      const tools = {
        roaring,
        sets,
        scratch: new ScratchBitmaps(roaring),
        intersection: new Intersection(new roaring.RoaringBitmap32()),
      }
      return new RoaringIndex(
        tools,
        VersionedList.fromEntries(createViews(segments, sets)),
        VersionedList.fromEntries(readOfferingTerms(segments)),
      )
    },
  }
}

const NO_CELLS = new Int32Array(0)

/** The rows of one offering. */
interface OfferingRows extends ColumnSource {
  getRow(ordinal: number): number
  /** Returns the ordinal of one of these rows. */
  getOrdinal(row: number): number
}

/**
 * The tools of an index. All its versions in a thread share them: a search is synchronous, and each count takes its own
 * bitmaps.
 */
interface RoaringTools {
  readonly roaring: Roaring
  readonly sets: RoaringSets
  readonly scratch: ScratchBitmaps
  readonly intersection: Intersection
}

class RoaringIndex implements PriceIndex {
  readonly #tools: RoaringTools
  readonly #segments: VersionedList<LazyViews>
  readonly #terms: VersionedList<Int32Array>
  readonly #intersection: Intersection
  readonly #columns = new Columns()
  /** Rows by offering, for the offerings that needed them for a search with operators or for `explain`. */
  readonly #offeringRows = new Map<number, OfferingRows>()

  constructor(tools: RoaringTools, segments: VersionedList<LazyViews>, terms: VersionedList<Int32Array>) {
    this.#tools = tools
    this.#segments = segments
    this.#terms = terms
    this.#intersection = tools.intersection
  }

  with(changed: SegmentChanges): PriceIndex {
    const segments = this.#segments.with(createViews(changed, this.#tools.sets))
    return new RoaringIndex(this.#tools, segments, this.#terms.with(readOfferingTerms(changed)))
  }

  find(query: SearchQuery): number {
    if (!this.#collectSets(query)) return NO_MATCH
    const { offering, choices, at } = query
    return pickOrdinal(this.#intersection.run(), 0, this.#createGetRank(), this.#createTest(offering, choices, at))
  }

  forEach(query: SearchQuery, visit: RowVisitor, except: RowSet = NO_ROWS): void {
    if (!this.#collectSets(query)) return
    const { offering, choices, at } = query
    const getRank = this.#createGetRank()
    const rows = toOrdinals(this.#intersection.run(), 0)
    const test = this.#createTest(offering, choices, at)
    for (const row of rows) if (!except.has(row) && (!test || test(row))) visit(row, getRank?.(row) ?? NO_RANK)
  }

  #createGetRank(): ((row: number) => number) | undefined {
    const defaults = this.#findBitmap(DEFAULTS_KEY)
    if (!defaults) return undefined
    const chars = this.#getRowCells(CHARS_KEY)
    const from = this.#getRowCells(FROM_KEY)
    return (row) => (defaults.has(row) ? toRank(chars[row]!, from[row] ?? FIRST_MOMENT) : NO_RANK)
  }

  /** Returns the cells of an entry with data of rows. Rows at the end may have none. */
  #getRowCells(key: number): Int32Array {
    const segment = this.#segments.get(ROWS_SEGMENT - FIRST_SEGMENT)?.segment
    const position = segment?.findPosition(key) ?? -1
    if (position < 0) return NO_CELLS
    const start = segment!.getWordStart(position)
    return segment!.words.subarray(start, start + segment!.getCardinality(position))
  }

  #createTest(
    offering: number,
    choices: readonly Choice[],
    at: SearchQuery['at'],
  ): ((row: number) => boolean) | undefined {
    // Moments are stored by row, so they need no columns.
    if (choices.length === 0) return at === undefined ? undefined : this.#createValidityTest(at)
    const rows = this.#getOfferingRows(offering)
    const test = this.#columns.createTest(rows, choices, at)
    return test && ((row) => test(rows.getOrdinal(row)))
  }

  explain({ offering, group, spec, at }: SearchQuery, choices: readonly Choice[]): number[] {
    const rows = this.#getOfferingRows(offering)
    const has = (bitmap: ReadonlyRoaringBitmap32 | undefined) => (ordinal: number) =>
      bitmap?.has(rows.getRow(ordinal)) ?? false
    const tests = this.#columns.createTests(rows, choices, at)
    return explainTests(Array(rows.count).keys(), [has(this.#findBitmap(group)), has(this.#findBitmap(spec)), ...tests])
  }

  async count(selection: FacetSelection, counts: FacetCounts): Promise<void> {
    const { sets, scratch } = this.#tools
    const { unite, subtract, intersect, release } = scratch.begin()
    const getBitmap = (term: number) => this.#findBitmap(term)!
    const offerings = Array.from(this.#terms.entries()).flatMap(([offering]) => this.#findBitmap(offering) ?? [])
    await countSets(
      {
        facets: await this.#collectFacets(selection),
        unite: (terms) => unite(terms.map(getBitmap)),
        findValidAt: (moment) => {
          const isValid = this.#createValidityTest(moment)
          return isValid && sets.createBitmap(unite(offerings).toArray().filter(isValid))
        },
        async findTested(test) {
          const rows = unite(offerings).toArray()
          const tested: number[] = []
          await forEachInTurns(rows.length, (i) => {
            if (test(rows[i]!)) tested.push(rows[i]!)
          })
          return sets.createBitmap(tested)
        },
        subtract,
        intersect,
        count: (term, within) => (within ? getBitmap(term).andCardinality(within) : getBitmap(term).size),
        size: (set) => set?.size ?? offerings.reduce((sum, { size }) => sum + size, 0),
        release,
      },
      selection,
      counts,
    )
  }

  async #collectFacets({ getFacet }: FacetSelection): Promise<Map<number, number[]>> {
    const facets = new Map<number, number[]>()
    for (const [, { segment }] of this.#segments.entries()) {
      for (const term of segment.getValueTerms()) {
        const facet = getFacet(term)
        const terms = facets.get(facet)
        if (terms) terms.push(term)
        else facets.set(facet, [term])
      }
      await yieldTurn()
    }
    return facets
  }

  #getOfferingRows(offering: number): OfferingRows {
    let offeringRows = this.#offeringRows.get(offering)
    if (!offeringRows) this.#offeringRows.set(offering, (offeringRows = this.#createOfferingRows(offering)))
    return offeringRows
  }

  #createOfferingRows(offering: number): OfferingRows {
    const { RoaringBitmap32: Bitmap } = this.#tools.roaring
    const all = this.#findBitmap(offering) ?? new Bitmap()
    const rows = all.toUint32Array()
    const getOrdinal = (row: number) => all.rank(row) - 1
    const terms = this.#terms.get(offering) ?? []
    return {
      count: rows.length,
      getRow: (ordinal) => rows[ordinal]!,
      getOrdinal,
      getValueTerms: () => terms,
      forEachOrdinal: (term, visit) => {
        const bitmap = this.#findBitmap(term)
        if (bitmap) for (const row of Bitmap.and(all, bitmap).toUint32Array()) visit(getOrdinal(row))
      },
      isValidAt: (ordinal, at) => this.#createValidityTest(at)?.(rows[ordinal]!) ?? true,
    }
  }

  /** Returns a test for validity at a moment; undefined if no row has dates. */
  #createValidityTest(at: number): ((row: number) => boolean) | undefined {
    const from = this.#getRowCells(FROM_KEY)
    const to = this.#getRowCells(TO_KEY)
    if (from.length === 0 && to.length === 0) return undefined
    return (row) => (row >= from.length || from[row]! <= at) && (row >= to.length || at < to[row]!)
  }

  /**
   * Collects the bitmaps to intersect.
   * @returns false if one of them does not exist
   */
  #collectSets({ offering, group, spec, values, count }: SearchQuery): boolean {
    this.#intersection.clear()
    if (!this.#add(offering)) return false
    if (!this.#add(group) && group !== ANY_TERM) return false
    if (!this.#add(spec) && spec !== ANY_TERM) return false
    for (let i = 0; i < count; i++) if (!this.#add(values[i]!)) return false
    return true
  }

  #findBitmap(term: number) {
    const views = this.#segments.get(toSegmentNumber(term) - FIRST_SEGMENT)
    const position = views?.segment.findPosition(term) ?? -1
    return position < 0 ? undefined : views!.get(position)
  }

  #add(term: number): boolean {
    const views = this.#segments.get(toSegmentNumber(term) - FIRST_SEGMENT)
    const position = views?.segment.findPosition(term) ?? -1
    if (position < 0) return false
    this.#intersection.add(views!.get(position), views!.segment.getByteLength(position))
    return true
  }
}
