import { FIRST_DAY, LAST_DAY } from '../core/dates.ts'
import { FREE, type Query } from '../core/query.ts'
import { hasDates, type Row, type RowTable } from '../core/rows.ts'
import { changesByOffering, rowsByOffering } from './by-offering.ts'
import { NONE, type IndexKind, type PriceIndex, type RowChange, type Segments } from './index.ts'
import { BYTES_A_ROW, decide, Intersection } from './intersection.ts'
import { loadRoaring, type Roaring } from './roaring-library.ts'
import { createRoaringSets, LazyViews, Touched, type RoaringSets } from './roaring-sets.ts'
import { Segment } from './segment.ts'

// Sets besides those of terms.
const DEFAULTS = -2
const ALL = -3

const keysOf = ({ group, spec, values, isDefault }: Row): number[] => [
  ALL,
  group,
  spec,
  ...values,
  ...(isDefault ? [DEFAULTS] : []),
]

/** Roaring bitmaps per offering: small ones, over places within the offering. Needs the roaring library. */
export async function createRoaringOfferingIndex(): Promise<IndexKind> {
  const roaring = await loadRoaring()
  const sets = createRoaringSets(roaring)
  return {
    build(table) {
      return new Map(
        Array.from(rowsByOffering(table), ([offering, rows]) => [offering, buildOffering(table, rows, sets)]),
      )
    },
    update(segments, changes) {
      return new Map(
        Array.from(changesByOffering(changes), ([offering, ofOffering]) => {
          const bytes = segments.get(offering)
          return [offering, changeOffering(bytes && new Segment(bytes), ofOffering, sets)]
        }),
      )
    },
    read: (segments) => new RoaringOfferingIndex(roaring, sets, viewsOf(segments, sets)),
  }
}

function buildOffering(table: RowTable, rows: Int32Array, sets: RoaringSets): Uint8Array {
  const places = new Map<number, number[]>()
  const from = new Int32Array(rows.length)
  const to = new Int32Array(rows.length)
  let dated = false
  rows.forEach((number, place) => {
    const row = table.get(number)!
    for (const key of keysOf(row)) {
      const list = places.get(key)
      if (list) list.push(place)
      else places.set(key, [place])
    }
    from[place] = row.from
    to[place] = row.to
    dated ||= hasDates(row)
  })
  const entries = Array.from(places, ([key, list]) => sets.fromPlaces(key, list))
  return sets.write({ rows, days: dated ? { from, to } : undefined, entries })
}

/** The places of an offering keep their rows; that of a deleted row is in no set any more. */
function changeOffering(old: Segment | undefined, changes: readonly RowChange[], sets: RoaringSets): Uint8Array {
  const count = old?.count ?? 0
  const added = changes.filter(({ row }) => !old || old.placeOf(row) < 0).toSorted((a, b) => a.row - b.row)
  const rows = new Int32Array(count + added.length)
  for (let place = 0; place < count; place++) rows[place] = old!.rowAt(place)
  rows.set(
    added.map(({ row }) => row),
    count,
  )
  const placeOf = new Map(added.map(({ row }, i) => [row, count + i]))

  const dated = old?.dated || changes.some(({ after }) => after && hasDates(after))
  const days = dated ? { from: new Int32Array(rows.length), to: new Int32Array(rows.length) } : undefined
  for (let place = 0; days && place < rows.length; place++) {
    days.from[place] = place < count ? old!.from(place) : FIRST_DAY
    days.to[place] = place < count ? old!.to(place) : LAST_DAY
  }

  const touched = new Touched()
  for (const { row, before, after } of changes) {
    const place = placeOf.get(row) ?? old!.placeOf(row)
    const [gone, come] = [new Set(before && keysOf(before)), new Set(after && keysOf(after))]
    for (const key of gone.difference(come)) touched.remove(key, place)
    for (const key of come.difference(gone)) touched.add(key, place)
    if (days && after) [days.from[place], days.to[place]] = [after.from, after.to]
  }
  return sets.write({ rows, days, entries: sets.changed(old, touched) })
}

const viewsOf = (segments: Segments, sets: RoaringSets): Map<number, LazyViews> =>
  new Map(Array.from(segments, ([offering, bytes]) => [offering, new LazyViews(new Segment(bytes), sets)]))

class RoaringOfferingIndex implements PriceIndex {
  readonly #roaring: Roaring
  readonly #sets: RoaringSets
  readonly #offerings: Map<number, LazyViews>
  readonly #intersection: Intersection

  constructor(roaring: Roaring, sets: RoaringSets, offerings: Map<number, LazyViews>) {
    this.#roaring = roaring
    this.#sets = sets
    this.#offerings = offerings
    this.#intersection = new Intersection(new roaring.RoaringBitmap32())
  }

  with(changed: Segments): PriceIndex {
    const offerings = new Map([...this.#offerings, ...viewsOf(changed, this.#sets)])
    return new RoaringOfferingIndex(this.#roaring, this.#sets, offerings)
  }

  find(query: Query): number {
    const views = this.#offerings.get(query.offering)
    if (!views || !this.#gather(views, query)) return NONE
    const { segment } = views
    const defaults = segment.positionOf(DEFAULTS)
    const { at } = query
    const place = decide(
      this.#intersection.run(),
      defaults < 0 ? undefined : views.get(defaults),
      at === undefined || !segment.dated ? undefined : (one) => segment.validOn(one, at),
    )
    return place < 0 ? place : segment.rowAt(place)
  }

  count(query: Query): number {
    const views = this.#offerings.get(query.offering)
    if (!views || !this.#gather(views, query)) return 0
    const { segment } = views
    const { at } = query
    const found = this.#intersection.run()
    if (at === undefined || !segment.dated) return found.size
    return found.toUint32Array().filter((place) => segment.validOn(place, at)).length
  }

  /** Gathers the bitmaps to intersect; false where one of them is empty. */
  #gather(views: LazyViews, query: Query): boolean {
    this.#intersection.clear()
    const { group, spec, values, count, any } = query
    // Whatever else there is lies within the set of a group: that of all rows is for a query without one.
    if (!this.#add(views, group === FREE ? ALL : group)) return false
    if (spec !== FREE && !this.#add(views, spec)) return false
    for (let i = 0; i < count; i++) if (!this.#add(views, values[i]!)) return false
    for (const terms of any) {
      const positions = [...terms].map((term) => views.segment.positionOf(term)).filter((position) => position >= 0)
      if (positions.length === 0) return false
      const union = this.#roaring.RoaringBitmap32.orMany(positions.map((position) => views.get(position)))
      this.#intersection.add(union, union.size * BYTES_A_ROW)
    }
    return true
  }

  #add(views: LazyViews, key: number): boolean {
    const position = views.segment.positionOf(key)
    if (position < 0) return false
    this.#intersection.add(views.get(position), views.segment.bytesOf(position))
    return true
  }
}
