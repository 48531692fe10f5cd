import type { ReadonlyRoaringBitmap32 } from 'roaring'
import { FIRST_DAY, LAST_DAY } from '../core/dates.ts'
import type { Choice, Query } from '../core/query.ts'
import { hasDates, type Row, type RowTable } from '../core/rows.ts'
import type { FacetCounts, Selection } from '../core/selection.ts'
import { VersionedList } from '../core/versioned-list.ts'
import { eachInTurns, yieldTurn } from '../turn.ts'
import { countSets } from './facets.ts'
import { leftAfter } from './left-after.ts'
import { Columns, type Placed } from './offerings/columns.ts'
import {
  NO_ROWS,
  NONE,
  type IndexKind,
  type PriceIndex,
  type RowChange,
  type Rows,
  type Segments,
  type Visit,
} from './index.ts'
import { decide, Intersection, placesIn } from './sets/intersection.ts'
import { loadRoaring, type Roaring } from './sets/roaring-library.ts'
import { createRoaringSets, LazyViews, Scratch, Touched, type RoaringSets } from './sets/roaring-sets.ts'
import { Segment } from './sets/segment.ts'

/** So many terms share a segment: one for each would be too many of them, one for all too much to make anew. */
const TERMS_A_SEGMENT = 64
const DEFAULTS = -2
const DAYS = -3
const DEFAULTS_SEGMENT = -1
const DAYS_SEGMENT = -2
/** The terms of an offering's rows lie in the segment of this number less the offering's. */
const OFFERING_SEGMENT = -3

const segmentOf = (key: number) => (key === DEFAULTS ? DEFAULTS_SEGMENT : Math.floor(key / TERMS_A_SEGMENT))

const keysOf = ({ offering, group, spec, values, isDefault }: Row): number[] => [
  offering,
  group,
  spec,
  ...values,
  ...(isDefault ? [DEFAULTS] : []),
]

/** Roaring bitmaps over the whole catalog: the offering is a condition like any other. Needs the roaring library. */
export async function createRoaringIndex(): Promise<IndexKind> {
  const roaring = await loadRoaring()
  const sets = createRoaringSets(roaring)
  return {
    build: (table) => buildAll(table, sets),
    update: (segments, changes) => changeTouched(segments, changes, sets),
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

async function buildAll(table: RowTable, sets: RoaringSets): Promise<Segments> {
  const rowsOf = new Map<number, number[]>()
  const termsOf = new Map<number, Set<number>>()
  const days = new Days()
  await eachInTurns(table.size, (number) => {
    const row = table.get(number)
    if (!row) return
    for (const key of keysOf(row)) {
      const list = rowsOf.get(key)
      if (list) list.push(number)
      else rowsOf.set(key, [number])
    }
    addTerms(termsOf, row)
    days.set(number, row)
  })
  const segments: Segments = new Map()
  for (const [segment, keys] of Map.groupBy(rowsOf.keys(), segmentOf)) {
    const entries = keys.map((key) => sets.fromPlaces(key, rowsOf.get(key)!))
    segments.set(segment, sets.write({ rows: [], days: undefined, entries }))
    await yieldTurn()
  }
  for (const [offering, terms] of termsOf) segments.set(OFFERING_SEGMENT - offering, writeTerms([...terms]))
  return days.addTo(segments, sets)
}

const readTerms = ({ buffer, byteOffset, byteLength }: Uint8Array) =>
  new Int32Array(buffer, byteOffset, byteLength / Int32Array.BYTES_PER_ELEMENT)

function writeTerms(terms: readonly number[]): Uint8Array {
  const memory = new SharedArrayBuffer(terms.length * Int32Array.BYTES_PER_ELEMENT)
  new Int32Array(memory).set(terms)
  return new Uint8Array(memory)
}

function addTerms(termsOf: Map<number, Set<number>>, { offering, values }: Row): void {
  let terms = termsOf.get(offering)
  if (!terms) termsOf.set(offering, (terms = new Set()))
  for (const term of values) terms.add(term)
}

function changeTouched(segments: Segments, changes: readonly RowChange[], sets: RoaringSets): Segments {
  const touched = new Map<number, Touched>()
  const of = (key: number) => {
    const segment = segmentOf(key)
    if (!touched.has(segment)) touched.set(segment, new Touched())
    return touched.get(segment)!
  }
  const oldDays = segments.get(DAYS_SEGMENT)
  const days = new Days(oldDays && new Segment(oldDays))
  const termsOf = new Map<number, Set<number>>()
  for (const { row, before, after } of changes) {
    const [gone, come] = [new Set(before && keysOf(before)), new Set(after && keysOf(after))]
    for (const key of gone.difference(come)) of(key).remove(key, row)
    for (const key of come.difference(gone)) of(key).add(key, row)
    if (!after) continue
    addTerms(termsOf, after)
    days.set(row, after)
  }
  const changed: Segments = new Map()
  for (const [segment, ofSegment] of touched) {
    const bytes = segments.get(segment)
    const entries = sets.changed(bytes && new Segment(bytes), ofSegment)
    changed.set(segment, sets.write({ rows: [], days: undefined, entries }))
  }
  for (const [offering, terms] of termsOf) {
    const known = segments.get(OFFERING_SEGMENT - offering)
    const all = terms.union(new Set(known && readTerms(known)))
    // Terms that no row has any more stay until all is built anew.
    if (!known || all.size > readTerms(known).length) changed.set(OFFERING_SEGMENT - offering, writeTerms([...all]))
  }
  return days.addTo(changed, sets)
}

/** The days of all rows, by row; nothing while no row has any. */
class Days {
  #from: Int32Array
  #to: Int32Array
  #changed = false

  constructor(old?: Segment) {
    const cells = old && old.set(old.positionOf(DAYS))
    const days = cells ? new Int32Array(new Uint8Array(cells).buffer) : new Int32Array(0)
    this.#from = days.slice(0, days.length / 2)
    this.#to = days.slice(days.length / 2)
  }

  set(row: number, { from, to }: Row): void {
    if (!hasDates({ from, to }) && row >= this.#from.length) return
    if (this.#from[row] === from && this.#to[row] === to) return
    if (row >= this.#from.length) {
      const size = Math.max(row + 1, this.#from.length * 2)
      const larger = [new Int32Array(size).fill(FIRST_DAY), new Int32Array(size).fill(LAST_DAY)] as const
      larger[0].set(this.#from)
      larger[1].set(this.#to)
      ;[this.#from, this.#to] = larger
    }
    this.#from[row] = from
    this.#to[row] = to
    this.#changed = true
  }

  addTo(segments: Segments, sets: RoaringSets): Segments {
    if (!this.#changed) return segments
    const both = new Int32Array(this.#from.length * 2)
    both.set(this.#from)
    both.set(this.#to, this.#from.length)
    const entry = { key: DAYS, cardinality: this.#from.length, bytes: new Uint8Array(both.buffer) }
    return segments.set(DAYS_SEGMENT, sets.write({ rows: [], days: undefined, entries: [entry] }))
  }
}

// Segments by their number less that of the first one.
const FIRST_SEGMENT = DAYS_SEGMENT

const viewsOf = (segments: Segments, sets: RoaringSets): [number: number, views: LazyViews][] =>
  [...segments]
    .filter(([number]) => number > OFFERING_SEGMENT)
    .map(([number, bytes]) => [number - FIRST_SEGMENT, new LazyViews(new Segment(bytes), sets)])

const termsOf = (segments: Segments): [offering: number, terms: Int32Array][] =>
  [...segments]
    .filter(([number]) => number <= OFFERING_SEGMENT)
    .map(([number, bytes]) => [OFFERING_SEGMENT - number, readTerms(bytes)])

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
    const views = this.#segments.get(Math.floor(term / TERMS_A_SEGMENT) - FIRST_SEGMENT)
    const position = views?.segment.positionOf(term) ?? -1
    if (position < 0) return false
    this.#intersection.add(views!.get(position), views!.segment.bytesOf(position))
    return true
  }
}
