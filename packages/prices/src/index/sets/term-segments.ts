import { FIRST_MOMENT, LAST_MOMENT, saturateEnd, saturateStart } from '../../core/values/moment.ts'
import { hasMoments, type PriceRow, type RowTable } from '../../core/row-table.ts'
import { forEachInTurns, yieldTurn } from '@influencer-stats/runtime/async/yield'
import { readSegments, type RowChange, type SegmentChanges, type Segments } from '../price-index.ts'
import { LazyViews, SetChanges, type RoaringSets } from './roaring-sets.ts'
import { DEFAULTS_KEY, Segment } from './segment.ts'

/** Number of terms in a segment: one segment per term is too many segments, and one for all is too large to rebuild. */
const TERMS_PER_SEGMENT = 64
/** The key of the entry with the validity of all rows: the saturated start of each row, then the end of each row. */
export const MOMENTS_KEY = -3
const DEFAULTS_SEGMENT = -1
export const MOMENTS_SEGMENT = -2
/** The terms of the rows of offering N are in the segment with the number `OFFERING_SEGMENT - N`. */
const OFFERING_SEGMENT = -3

/** Returns the number of the segment with the bitmap of a term. */
export const toSegmentNumber = (key: number) =>
  key === DEFAULTS_KEY ? DEFAULTS_SEGMENT : Math.floor(key / TERMS_PER_SEGMENT)

const listRowKeys = ({ offering, group, spec, values, isDefault }: PriceRow): number[] => [
  offering,
  group,
  spec,
  ...values,
  ...(isDefault ? [DEFAULTS_KEY] : []),
]

/** Builds the bitmap of each term over all rows, the list of terms of each offering, and the moments. */
export async function buildTermSegments(table: RowTable, sets: RoaringSets): Promise<Segments> {
  const rowsByKey = new Map<number, number[]>()
  const termsByOffering = new Map<number, Set<number>>()
  const moments = new Moments()
  await forEachInTurns(table.size, (number) => {
    const row = table.get(number)
    if (!row) return
    for (const key of listRowKeys(row)) {
      const list = rowsByKey.get(key)
      if (list) list.push(number)
      else rowsByKey.set(key, [number])
    }
    addTerms(termsByOffering, row)
    moments.set(number, row)
  })
  const segments: Segments = new Map()
  for (const [segment, keys] of Map.groupBy(rowsByKey.keys(), toSegmentNumber)) {
    const entries = keys.map((key) => sets.createEntry(key, rowsByKey.get(key)!))
    segments.set(segment, sets.write({ rows: [], moments: undefined, entries }))
    await yieldTurn()
  }
  for (const [offering, terms] of termsByOffering) segments.set(OFFERING_SEGMENT - offering, writeTerms([...terms]))
  return moments.addTo(segments, sets)
}

const readTerms = ({ buffer, byteOffset, byteLength }: Uint8Array) =>
  new Int32Array(buffer, byteOffset, byteLength / Int32Array.BYTES_PER_ELEMENT)

function writeTerms(terms: readonly number[]): Uint8Array {
  const memory = new SharedArrayBuffer(terms.length * Int32Array.BYTES_PER_ELEMENT)
  new Int32Array(memory).set(terms)
  return new Uint8Array(memory)
}

function addTerms(termsByOffering: Map<number, Set<number>>, { offering, values }: PriceRow): void {
  let terms = termsByOffering.get(offering)
  if (!terms) termsByOffering.set(offering, (terms = new Set()))
  for (const term of values) terms.add(term)
}

/** Rebuilds the segments of changed terms. */
export function updateTermSegments(
  segments: Pick<Segments, 'get'>,
  changes: readonly RowChange[],
  sets: RoaringSets,
): SegmentChanges {
  const touched = new Map<number, SetChanges>()
  const getChanges = (key: number) => {
    const segment = toSegmentNumber(key)
    if (!touched.has(segment)) touched.set(segment, new SetChanges())
    return touched.get(segment)!
  }
  const oldMoments = segments.get(MOMENTS_SEGMENT)
  const moments = new Moments(oldMoments && new Segment(oldMoments))
  const termsByOffering = new Map<number, Set<number>>()
  for (const { row, before, after } of changes) {
    const [removed, added] = [new Set(before && listRowKeys(before)), new Set(after && listRowKeys(after))]
    for (const key of removed.difference(added)) getChanges(key).remove(key, row)
    for (const key of added.difference(removed)) getChanges(key).add(key, row)
    if (!after) continue
    addTerms(termsByOffering, after)
    moments.set(row, after)
  }
  const changed: SegmentChanges = new Map()
  const removed = new Set<number>()
  for (const [segment, segmentChanges] of touched) {
    const bytes = segments.get(segment)
    const entries = sets.applyChanges(bytes && new Segment(bytes), segmentChanges)
    changed.set(segment, entries.length === 0 ? undefined : sets.write({ rows: [], moments: undefined, entries }))
    const existing = new Set(entries.map(({ key }) => key))
    for (const key of segmentChanges.sets.keys()) if (!existing.has(key)) removed.add(key)
  }
  for (const [offering, terms] of termsByOffering) {
    const known = segments.get(OFFERING_SEGMENT - offering)
    const all = terms.union(new Set(known && readTerms(known)))
    // Terms that no row has any more stay until the index is rebuilt.
    if (!known || all.size > readTerms(known).length) changed.set(OFFERING_SEGMENT - offering, writeTerms([...all]))
  }
  for (const { before } of changes) {
    const number = OFFERING_SEGMENT - (before?.offering ?? 0)
    if (before && removed.has(before.offering) && segments.get(number)) changed.set(number, undefined)
  }
  return moments.addTo(changed, sets)
}

/** The saturated start and end of each row, by the number of the row; empty if no row has dates. */
class Moments {
  #from: Int32Array
  #to: Int32Array
  #changed = false

  constructor(old?: Segment) {
    const cells = old && old.getSet(old.findPosition(MOMENTS_KEY))
    const moments = cells ? new Int32Array(new Uint8Array(cells).buffer) : new Int32Array(0)
    this.#from = moments.slice(0, moments.length / 2)
    this.#to = moments.slice(moments.length / 2)
  }

  set(row: number, validity: PriceRow): void {
    if (!hasMoments(validity) && row >= this.#from.length) return
    const from = saturateStart(validity.from)
    const to = saturateEnd(validity.to)
    if (this.#from[row] === from && this.#to[row] === to) return
    if (row >= this.#from.length) {
      const size = Math.max(row + 1, this.#from.length * 2)
      const larger = [
        new Int32Array(size).fill(saturateStart(FIRST_MOMENT)),
        new Int32Array(size).fill(saturateEnd(LAST_MOMENT)),
      ] as const
      larger[0].set(this.#from)
      larger[1].set(this.#to)
      ;[this.#from, this.#to] = larger
    }
    this.#from[row] = from
    this.#to[row] = to
    this.#changed = true
  }

  addTo<S extends SegmentChanges>(segments: S, sets: RoaringSets): S {
    if (!this.#changed) return segments
    const both = new Int32Array(this.#from.length * 2)
    both.set(this.#from)
    both.set(this.#to, this.#from.length)
    const entry = { key: MOMENTS_KEY, cardinality: this.#from.length, bytes: new Uint8Array(both.buffer) }
    return segments.set(MOMENTS_SEGMENT, sets.write({ rows: [], moments: undefined, entries: [entry] }))
  }
}

/**
 * The lowest number of a segment with bitmaps or moments. A thread's views of segment N have the key `N - FIRST_SEGMENT`,
 * from 0.
 */
export const FIRST_SEGMENT = MOMENTS_SEGMENT

type Views<T> = (readonly [number: number, one: T | undefined])[]

/** Returns a thread's views of the segments with bitmaps or moments, each with its key. */
export const createViews = (segments: SegmentChanges, sets: RoaringSets): Views<LazyViews> =>
  readSegments(
    [...segments].filter(([number]) => number > OFFERING_SEGMENT),
    (bytes) => new LazyViews(new Segment(bytes), sets),
  ).map(([number, views]) => [number - FIRST_SEGMENT, views])

/** Returns the terms of rows, by offering. */
export const readOfferingTerms = (segments: SegmentChanges): Views<Int32Array> =>
  readSegments(
    [...segments].filter(([number]) => number <= OFFERING_SEGMENT),
    readTerms,
  ).map(([number, terms]) => [OFFERING_SEGMENT - number, terms])
