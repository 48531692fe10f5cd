import { saturateEnd, saturateStart } from '../../core/values/moment.ts'
import { hasMoments, RowTable, type PriceRow } from '../../core/row-table.ts'
import { yieldTurn } from '@influencer-stats/runtime/async/yield'
import { groupChangesByOffering, groupRowsByOffering } from './group-by-offering.ts'
import type { RowChange, SegmentChanges, Segments } from '../price-index.ts'
import { CHARS_KEY, type SegmentEntry, type SegmentSource } from '../sets/segment.ts'

/** A row with its number. */
export interface NumberedRow extends PriceRow {
  readonly row: number
}

/** The encoding of an offering's rows in a segment. An update decodes the segment and encodes a new one. */
export interface OfferingCodec {
  /** @param rows ascending */
  encode(rows: readonly NumberedRow[]): Uint8Array
  /** Returns the rows in no particular order. Their `offering` may be `ANY_TERM`. */
  decode(segment: Uint8Array): NumberedRow[]
}

/** Returns the row numbers and moments of a segment, which are not in sets. */
export const toSegmentRows = (rows: readonly NumberedRow[]): Pick<SegmentSource, 'rows' | 'moments'> => ({
  rows: rows.map(({ row }) => row),
  moments: rows.some(hasMoments)
    ? {
        from: Int32Array.from(rows, ({ from }) => saturateStart(from)),
        to: Int32Array.from(rows, ({ to }) => saturateEnd(to)),
      }
    : undefined,
})

/** Returns the entry with the number of characteristics of each row, if any is a default row: then it is part of a rank. */
export const createCharsEntry = (rows: readonly NumberedRow[]): SegmentEntry[] =>
  rows.some(({ isDefault }) => isDefault)
    ? [{ key: CHARS_KEY, cardinality: rows.length, bytes: Uint8Array.from(rows, ({ chars }) => chars) }]
    : []

export async function buildOfferings(table: RowTable, { encode }: OfferingCodec): Promise<Segments> {
  const segments: Segments = new Map()
  for (const [offering, rows] of await groupRowsByOffering(table)) {
    segments.set(offering, encode(Array.from(rows, (row) => ({ ...table.get(row)!, row }))))
    await yieldTurn()
  }
  return segments
}

export function updateOfferings(
  segments: Pick<Segments, 'get'>,
  changes: readonly RowChange[],
  { encode, decode }: OfferingCodec,
): SegmentChanges {
  const changed: SegmentChanges = new Map()
  for (const [offering, offeringChanges] of groupChangesByOffering(changes)) {
    const old = segments.get(offering)
    const rows = new Map((old ? decode(old) : []).map((row) => [row.row, row]))
    for (const { row, after } of offeringChanges) {
      if (after) rows.set(row, { ...after, row })
      else rows.delete(row)
    }
    const sorted = [...rows.values()].sort((a, b) => a.row - b.row)
    changed.set(offering, sorted.length === 0 ? undefined : encode(sorted))
  }
  return changed
}

/** Encodes rows one after the other, for indexes that scan them. */
export const plainRowsCodec: OfferingCodec = {
  encode(rows) {
    const table = new RowTable(rows.length + 1)
    for (const row of rows) table.push(row)
    const body = table.encode(0, rows.length)
    // The body begins with the count, so a reader can find the numbers after the body.
    const segment = new Uint8Array(new SharedArrayBuffer(body.length + 4 * rows.length))
    segment.set(body)
    new Int32Array(segment.buffer, body.length).set(rows.map(({ row }) => row))
    return segment
  },
  decode(segment) {
    const table = new RowTable()
    const count = new Int32Array(segment.buffer, segment.byteOffset)[0]!
    const body = segment.length - 4 * count
    table.decode(segment.subarray(0, body))
    const numbers = new Int32Array(segment.buffer, segment.byteOffset + body, count)
    return Array.from(numbers, (row, i) => ({ ...table.get(i)!, row }))
  },
}
