import { FIRST_DAY, LAST_DAY } from '../../core/dates.ts'
import { hasDates, type Row, type RowTable } from '../../core/rows.ts'
import { eachInTurns, yieldTurn } from '../../turn.ts'
import type { RowChange, Segments } from '../index.ts'
import { LazyViews, Touched, type RoaringSets } from './roaring-sets.ts'
import { DEFAULTS, Segment } from './segment.ts'

/** So many terms share a segment: one for each would be too many of them, one for all too much to make anew. */
const TERMS_A_SEGMENT = 64
/** The key of the days. */
export const DAYS = -3
const DEFAULTS_SEGMENT = -1
export const DAYS_SEGMENT = -2
/** The terms of an offering's rows lie in the segment of this number less the offering's. */
const OFFERING_SEGMENT = -3

/** Where the bitmap of a term lies. */
export const segmentOf = (key: number) => (key === DEFAULTS ? DEFAULTS_SEGMENT : Math.floor(key / TERMS_A_SEGMENT))

const keysOf = ({ offering, group, spec, values, isDefault }: Row): number[] => [
  offering,
  group,
  spec,
  ...values,
  ...(isDefault ? [DEFAULTS] : []),
]

/** The bitmap of each term over all rows, of each offering the terms that its rows have, and the days. */
export async function buildTermSegments(table: RowTable, sets: RoaringSets): Promise<Segments> {
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

/** Makes the segments of touched terms anew. */
export function updateTermSegments(segments: Segments, changes: readonly RowChange[], sets: RoaringSets): Segments {
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

/** Views are listed by the number of their segment less this one. */
export const FIRST_SEGMENT = DAYS_SEGMENT

/** What a thread views of the bitmaps. */
export const viewsOf = (segments: Segments, sets: RoaringSets): [number: number, views: LazyViews][] =>
  [...segments]
    .filter(([number]) => number > OFFERING_SEGMENT)
    .map(([number, bytes]) => [number - FIRST_SEGMENT, new LazyViews(new Segment(bytes), sets)])

/** The terms that rows have, by offering. */
export const termsOf = (segments: Segments): [offering: number, terms: Int32Array][] =>
  [...segments]
    .filter(([number]) => number <= OFFERING_SEGMENT)
    .map(([number, bytes]) => [OFFERING_SEGMENT - number, readTerms(bytes)])
