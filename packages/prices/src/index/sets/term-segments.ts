import { FIRST_MOMENT, LAST_MOMENT, saturateEnd, saturateStart } from '../../core/values/moment.ts'
import type { PriceRow, RowTable } from '../../core/row-table.ts'
import { forEachInTurns, yieldTurn } from '@influencer-stats/runtime/async/yield'
import { readSegments, type RowChange, type SegmentChanges, type Segments } from '../price-index.ts'
import { LazyViews, SetChanges, type RoaringSets } from './roaring-sets.ts'
import { CHARS_KEY, DEFAULTS_KEY, Segment, type SegmentEntry } from './segment.ts'

/** Number of terms in a segment: one segment per term is too many segments, and one for all is too large to rebuild. */
const TERMS_PER_SEGMENT = 64
// Keys of the entries with the saturated start and end of each row.
export const FROM_KEY = -3
export const TO_KEY = -4
const DEFAULTS_SEGMENT = -1
export const ROWS_SEGMENT = -2
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

/** Builds the bitmap of each term over all rows, the list of terms of each offering, and the data of rows. */
export async function buildTermSegments(table: RowTable, sets: RoaringSets): Promise<Segments> {
  const rowsByKey = new Map<number, number[]>()
  const termsByOffering = new Map<number, Set<number>>()
  const rowData = new RowData()
  await forEachInTurns(table.size, (number) => {
    const row = table.get(number)
    if (!row) return
    for (const key of listRowKeys(row)) {
      const list = rowsByKey.get(key)
      if (list) list.push(number)
      else rowsByKey.set(key, [number])
    }
    addTerms(termsByOffering, row)
    rowData.set(number, row)
  })
  const segments: Segments = new Map()
  for (const [segment, keys] of Map.groupBy(rowsByKey.keys(), toSegmentNumber)) {
    const entries = keys.map((key) => sets.createEntry(key, rowsByKey.get(key)!))
    segments.set(segment, sets.write({ rows: [], moments: undefined, entries }))
    await yieldTurn()
  }
  for (const [offering, terms] of termsByOffering) segments.set(OFFERING_SEGMENT - offering, writeTerms([...terms]))
  return rowData.addTo(segments, sets)
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
  const oldRows = segments.get(ROWS_SEGMENT)
  const rowData = new RowData(oldRows && new Segment(oldRows))
  const termsByOffering = new Map<number, Set<number>>()
  for (const { row, before, after } of changes) {
    const [removed, added] = [new Set(before && listRowKeys(before)), new Set(after && listRowKeys(after))]
    for (const key of removed.difference(added)) getChanges(key).remove(key, row)
    for (const key of added.difference(removed)) getChanges(key).add(key, row)
    if (!after) continue
    addTerms(termsByOffering, after)
    rowData.set(row, after)
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
  return rowData.addTo(changed, sets)
}

/** The validity of rows, and the number of characteristics of default rows. */
class RowData {
  readonly #cells: ReadonlyMap<number, RowCells>

  constructor(old?: Segment) {
    const missing = [
      [FROM_KEY, saturateStart(FIRST_MOMENT)],
      [TO_KEY, saturateEnd(LAST_MOMENT)],
      [CHARS_KEY, 0],
    ] as const
    this.#cells = new Map(missing.map(([key, cell]) => [key, new RowCells(old, key, cell)]))
  }

  set(row: number, { from, to, isDefault, chars }: PriceRow): void {
    this.#cells.get(FROM_KEY)!.set(row, saturateStart(from))
    this.#cells.get(TO_KEY)!.set(row, saturateEnd(to))
    if (isDefault) this.#cells.get(CHARS_KEY)!.set(row, chars)
  }

  addTo<S extends SegmentChanges>(segments: S, sets: RoaringSets): S {
    const all = [...this.#cells.values()]
    if (!all.some(({ isChanged }) => isChanged)) return segments
    const entries = all.flatMap((cells) => cells.toEntry() ?? [])
    return segments.set(ROWS_SEGMENT, sets.write({ rows: [], moments: undefined, entries }))
  }
}

const NO_CELLS = new Int32Array(0)

/** A cell of each row, by the number of the row. Rows at the end that have the usual cell are omitted. */
class RowCells {
  readonly #key: number
  readonly #usual: number
  #cells: Int32Array
  isChanged = false

  constructor(old: Segment | undefined, key: number, usual: number) {
    const position = old?.findPosition(key) ?? -1
    this.#key = key
    this.#usual = usual
    this.#cells = position < 0 ? NO_CELLS : new Int32Array(new Uint8Array(old!.getSet(position)).buffer)
  }

  set(row: number, cell: number): void {
    if ((this.#cells[row] ?? this.#usual) === cell) return
    if (row >= this.#cells.length) {
      const larger = new Int32Array(Math.max(row + 1, this.#cells.length * 2)).fill(this.#usual)
      larger.set(this.#cells)
      this.#cells = larger
    }
    this.#cells[row] = cell
    this.isChanged = true
  }

  toEntry(): SegmentEntry | undefined {
    const { length, buffer } = this.#cells
    return length === 0 ? undefined : { key: this.#key, cardinality: length, bytes: new Uint8Array(buffer) }
  }
}

/**
 * The lowest number of a segment with bitmaps or data of rows. A thread's views of segment N have the key `N - FIRST_SEGMENT`,
 * from 0.
 */
export const FIRST_SEGMENT = ROWS_SEGMENT

type Views<T> = (readonly [number: number, one: T | undefined])[]

/** Returns a thread's views of the segments with bitmaps or data of rows, each with its key. */
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
