import { FIRST_DAY, LAST_DAY } from '../core/dates.ts'
import { FREE, type Query } from '../core/query.ts'
import { hasDates, type Row, type RowTable } from '../core/rows.ts'
import { NONE, type IndexKind, type PriceIndex, type RowChange, type Segments } from './index.ts'
import { BYTES_A_ROW, decide, Intersection } from './sets/intersection.ts'
import { loadRoaring, type Roaring } from './sets/roaring-library.ts'
import { createRoaringSets, LazyViews, Touched, type RoaringSets } from './sets/roaring-sets.ts'
import { Segment } from './sets/segment.ts'

/** So many terms share a segment: one for each would be too many of them, one for all too much to make anew. */
const TERMS_A_SEGMENT = 64
const DEFAULTS = -2
const DAYS = -3
const DEFAULTS_SEGMENT = -1
const DAYS_SEGMENT = -2

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
    read: (segments) => new RoaringIndex(roaring, sets, viewsOf(segments, sets)),
  }
}

function buildAll(table: RowTable, sets: RoaringSets): Segments {
  const rowsOf = new Map<number, number[]>()
  const days = new Days()
  for (let number = 0; number < table.size; number++) {
    const row = table.get(number)
    if (!row) continue
    for (const key of keysOf(row)) {
      const list = rowsOf.get(key)
      if (list) list.push(number)
      else rowsOf.set(key, [number])
    }
    days.set(number, row)
  }
  const segments: Segments = new Map()
  for (const [segment, keys] of Map.groupBy(rowsOf.keys(), segmentOf)) {
    const entries = keys.map((key) => sets.fromPlaces(key, rowsOf.get(key)!))
    segments.set(segment, sets.write({ rows: [], days: undefined, entries }))
  }
  return days.addTo(segments, sets)
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
  for (const { row, before, after } of changes) {
    const [gone, come] = [new Set(before && keysOf(before)), new Set(after && keysOf(after))]
    for (const key of gone.difference(come)) of(key).remove(key, row)
    for (const key of come.difference(gone)) of(key).add(key, row)
    if (after) days.set(row, after)
  }
  const changed: Segments = new Map()
  for (const [segment, ofSegment] of touched) {
    const bytes = segments.get(segment)
    const entries = sets.changed(bytes && new Segment(bytes), ofSegment)
    changed.set(segment, sets.write({ rows: [], days: undefined, entries }))
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

const viewsOf = (segments: Segments, sets: RoaringSets): Map<number, LazyViews> =>
  new Map(Array.from(segments, ([number, bytes]) => [number, new LazyViews(new Segment(bytes), sets)]))

class RoaringIndex implements PriceIndex {
  readonly #roaring: Roaring
  readonly #sets: RoaringSets
  readonly #segments: Map<number, LazyViews>
  readonly #intersection: Intersection

  constructor(roaring: Roaring, sets: RoaringSets, segments: Map<number, LazyViews>) {
    this.#roaring = roaring
    this.#sets = sets
    this.#segments = segments
    this.#intersection = new Intersection(new roaring.RoaringBitmap32())
  }

  with(changed: Segments): PriceIndex {
    const segments = new Map([...this.#segments, ...viewsOf(changed, this.#sets)])
    return new RoaringIndex(this.#roaring, this.#sets, segments)
  }

  find(query: Query): number {
    if (!this.#gather(query)) return NONE
    const defaults = this.#bitmapOf(DEFAULTS)
    return decide(
      this.#intersection.run(),
      0,
      defaults && ((row) => defaults.has(row)),
      query.at === undefined ? undefined : this.#validOn(query.at),
    )
  }

  count(query: Query): number {
    if (!this.#gather(query)) return 0
    const found = this.#intersection.run()
    const validOn = query.at === undefined ? undefined : this.#validOn(query.at)
    return validOn ? found.toUint32Array().filter(validOn).length : found.size
  }

  /** Whether a row is valid on a day; nothing where no row has dates. */
  #validOn(day: number): ((row: number) => boolean) | undefined {
    const segment = this.#segments.get(DAYS_SEGMENT)?.segment
    if (!segment) return undefined
    const position = segment.positionOf(DAYS)
    const { words } = segment
    const from = segment.wordOf(position)
    const size = segment.cardinality(position)
    return (row) => row >= size || (words[from + row]! <= day && day <= words[from + size + row]!)
  }

  /** Gathers the bitmaps to intersect; false where one of them is empty. */
  #gather({ offering, group, spec, values, count, any }: Query): boolean {
    this.#intersection.clear()
    if (!this.#add(offering)) return false
    if (group !== FREE && !this.#add(group)) return false
    if (spec !== FREE && !this.#add(spec)) return false
    for (let i = 0; i < count; i++) if (!this.#add(values[i]!)) return false
    for (const terms of any) {
      const bitmaps = [...terms].map((term) => this.#bitmapOf(term)).filter((bitmap) => bitmap !== undefined)
      if (bitmaps.length === 0) return false
      const union = this.#roaring.RoaringBitmap32.orMany(bitmaps)
      this.#intersection.add(union, union.size * BYTES_A_ROW)
    }
    return true
  }

  #bitmapOf(term: number) {
    const views = this.#segments.get(segmentOf(term))
    const position = views?.segment.positionOf(term) ?? -1
    return position < 0 ? undefined : views!.get(position)
  }

  #add(term: number): boolean {
    const views = this.#segments.get(Math.floor(term / TERMS_A_SEGMENT))
    const position = views?.segment.positionOf(term) ?? -1
    if (position < 0) return false
    this.#intersection.add(views!.get(position), views!.segment.bytesOf(position))
    return true
  }
}
