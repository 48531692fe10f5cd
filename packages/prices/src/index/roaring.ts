import type { ReadonlyRoaringBitmap32 } from 'roaring'
import type { Choice, Query } from '../core/query.ts'
import type { FacetCounts, Selection } from '../core/selection.ts'
import { VersionedList } from '../core/versioned-list.ts'
import { yieldTurn } from '../turn.ts'
import { countSets } from './facets.ts'
import { leftAfter } from './left-after.ts'
import { Columns, type Placed } from './offerings/columns.ts'
import { NO_ROWS, NONE, type IndexKind, type PriceIndex, type Rows, type Segments, type Visit } from './index.ts'
import { decide, Intersection, placesIn } from './sets/intersection.ts'
import { loadRoaring, type Roaring } from './sets/roaring-library.ts'
import { createRoaringSets, Scratch, type LazyViews, type RoaringSets } from './sets/roaring-sets.ts'
import { DEFAULTS } from './sets/segment.ts'
import {
  buildTermSegments,
  DAYS,
  DAYS_SEGMENT,
  FIRST_SEGMENT,
  segmentOf,
  termsOf,
  updateTermSegments,
  viewsOf,
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
        scratch: new Scratch(roaring),
        intersection: new Intersection(new roaring.RoaringBitmap32()),
      }
      return new RoaringIndex(tools, VersionedList.of(viewsOf(segments, sets)), VersionedList.of(termsOf(segments)))
    },
  }
}

/** The rows of one offering. */
interface OfferingRows extends Placed {
  rowAt(place: number): number
  /** The place of one of them. */
  placeOf(row: number): number
}

/** What an index works with. Those of one thread share it, as one is done before the next begins. */
interface Tools {
  readonly roaring: Roaring
  readonly sets: RoaringSets
  readonly scratch: Scratch
  readonly intersection: Intersection
}

class RoaringIndex implements PriceIndex {
  readonly #tools: Tools
  readonly #segments: VersionedList<LazyViews>
  readonly #terms: VersionedList<Int32Array>
  readonly #intersection: Intersection
  readonly #columns = new Columns()
  /** By offering, where an operator was asked for. */
  readonly #placed = new Map<number, OfferingRows>()

  constructor(tools: Tools, segments: VersionedList<LazyViews>, terms: VersionedList<Int32Array>) {
    this.#tools = tools
    this.#segments = segments
    this.#terms = terms
    this.#intersection = tools.intersection
  }

  with(changed: Segments): PriceIndex {
    const segments = this.#segments.with(viewsOf(changed, this.#tools.sets))
    return new RoaringIndex(this.#tools, segments, this.#terms.with(termsOf(changed)))
  }

  find(query: Query): number {
    if (!this.#gather(query)) return NONE
    const { offering, choices, at } = query
    return decide(this.#intersection.run(), 0, this.#isDefault(), this.#testOf(offering, choices, at))
  }

  each(query: Query, visit: Visit, except: Rows = NO_ROWS): void {
    if (!this.#gather(query)) return
    const { offering, choices, at } = query
    const isDefault = this.#isDefault()
    const rows = placesIn(this.#intersection.run(), 0)
    const test = this.#testOf(offering, choices, at)
    for (const row of rows) if (!except.has(row) && (!test || test(row))) visit(row, isDefault?.(row) ?? false)
  }

  #isDefault(): ((row: number) => boolean) | undefined {
    const defaults = this.#bitmapOf(DEFAULTS)
    return defaults && ((row) => defaults.has(row))
  }

  #testOf(offering: number, choices: readonly Choice[], at: Query['at']): ((row: number) => boolean) | undefined {
    // Days lie by row, so nothing is to be made for them.
    if (choices.length === 0) return at === undefined ? undefined : this.#validOn(at)
    const rows = this.#rowsOf(offering)
    const test = this.#columns.testOf(rows, choices, at)
    return test && ((row) => test(rows.placeOf(row)))
  }

  left({ offering, group, spec, at }: Query, choices: readonly Choice[]): number[] {
    const rows = this.#rowsOf(offering)
    const has = (bitmap: ReadonlyRoaringBitmap32 | undefined) => (place: number) =>
      bitmap?.has(rows.rowAt(place)) ?? false
    const tests = this.#columns.testsOf(rows, choices, at)
    return leftAfter(Array(rows.count).keys(), [has(this.#bitmapOf(group)), has(this.#bitmapOf(spec)), ...tests])
  }

  async count(selection: Selection, counts: FacetCounts): Promise<void> {
    const { sets, scratch } = this.#tools
    const { any, and, done } = scratch.begin()
    const setOf = (term: number) => this.#bitmapOf(term)!
    const offerings = Array.from(this.#terms.entries()).flatMap(([offering]) => this.#bitmapOf(offering) ?? [])
    await countSets(
      {
        facets: await this.#facetsOf(selection),
        any: (some) => any(some.map(setOf)),
        validOn: (day) => {
          const isValid = this.#validOn(day)
          return isValid && sets.fromRows(any(offerings).toArray().filter(isValid))
        },
        and,
        count: (term, within) => (within ? setOf(term).andCardinality(within) : setOf(term).size),
        size: (set) => set?.size ?? offerings.reduce((sum, { size }) => sum + size, 0),
        done,
      },
      selection,
      counts,
    )
  }

  async #facetsOf({ facetOf }: Selection): Promise<Map<number, number[]>> {
    const facets = new Map<number, number[]>()
    for (const [, { segment }] of this.#segments.entries()) {
      for (const term of segment.valueTerms()) {
        const facet = facetOf(term)
        const terms = facets.get(facet)
        if (terms) terms.push(term)
        else facets.set(facet, [term])
      }
      await yieldTurn()
    }
    return facets
  }

  #rowsOf(offering: number): OfferingRows {
    let placed = this.#placed.get(offering)
    if (!placed) this.#placed.set(offering, (placed = this.#place(offering)))
    return placed
  }

  #place(offering: number): OfferingRows {
    const { RoaringBitmap32: Bitmap } = this.#tools.roaring
    const all = this.#bitmapOf(offering) ?? new Bitmap()
    const rows = all.toUint32Array()
    const placeOf = (row: number) => all.rank(row) - 1
    const terms = this.#terms.get(offering) ?? []
    return {
      count: rows.length,
      rowAt: (place) => rows[place]!,
      placeOf,
      valueTerms: () => terms,
      eachPlace: (term, visit) => {
        const bitmap = this.#bitmapOf(term)
        if (bitmap) for (const row of Bitmap.and(all, bitmap).toUint32Array()) visit(placeOf(row))
      },
      validOn: (place, day) => this.#validOn(day)?.(rows[place]!) ?? true,
    }
  }

  /** Whether a row is valid on a day; nothing where no row has dates. */
  #validOn(day: number): ((row: number) => boolean) | undefined {
    const segment = this.#segments.get(DAYS_SEGMENT - FIRST_SEGMENT)?.segment
    if (!segment) return undefined
    const position = segment.positionOf(DAYS)
    const { words } = segment
    const from = segment.wordOf(position)
    const size = segment.cardinality(position)
    return (row) => row >= size || (words[from + row]! <= day && day <= words[from + size + row]!)
  }

  /** Gathers the bitmaps to intersect; false where one of them is empty. */
  #gather({ offering, group, spec, values, count }: Query): boolean {
    this.#intersection.clear()
    if (!this.#add(offering)) return false
    if (!this.#add(group) || !this.#add(spec)) return false
    for (let i = 0; i < count; i++) if (!this.#add(values[i]!)) return false
    return true
  }

  #bitmapOf(term: number) {
    const views = this.#segments.get(segmentOf(term) - FIRST_SEGMENT)
    const position = views?.segment.positionOf(term) ?? -1
    return position < 0 ? undefined : views!.get(position)
  }

  #add(term: number): boolean {
    const views = this.#segments.get(segmentOf(term) - FIRST_SEGMENT)
    const position = views?.segment.positionOf(term) ?? -1
    if (position < 0) return false
    this.#intersection.add(views!.get(position), views!.segment.bytesOf(position))
    return true
  }
}
