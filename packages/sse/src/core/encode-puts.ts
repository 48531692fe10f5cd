import type { EventExtras, TopicPut } from './event.ts'

// Format of a log entry with values: the length of the head (u32, big-endian), the head, and the concatenated bytes of
// the values. The head is a JSON list with a row for each value.

const LENGTH_BYTES = 4

/** Row of a value in the head: its topic, its length (bytes), and further fields. */
export type ValueRow = readonly [topic: string, bytes: number, ...fields: unknown[]]

/** Encodes values. @param getValue returns the value of a row by its position */
export function encodeValues(rows: readonly ValueRow[], getValue: (position: number) => string): Buffer {
  const head = Buffer.from(JSON.stringify(rows))
  const bytes = Buffer.allocUnsafe(rows.reduce((sum, [, length]) => sum + length, LENGTH_BYTES + head.length))
  let at = bytes.writeUInt32BE(head.length)
  at += head.copy(bytes, at)
  for (let i = 0; i < rows.length; i++) at += bytes.write(getValue(i), at)
  return bytes
}

/**
 * Decodes the bytes of `encodeValues`.
 * @param create creates an item from a row and its value
 * @throws RangeError, SyntaxError if the bytes have another format
 */
export function decodeValues<Row extends ValueRow, Item>(
  bytes: Buffer,
  create: (row: Row, value: string) => Item,
): { readonly items: Item[]; readonly valueBytes: number } {
  const from = LENGTH_BYTES + bytes.readUInt32BE()
  let at = from
  const rows: readonly Row[] = JSON.parse(bytes.toString('utf8', LENGTH_BYTES, from))
  const items = rows.map((row) => create(row, bytes.toString('utf8', at, (at += row[1]))))
  if (at !== bytes.length) throw new RangeError('an entry of values has the wrong length')
  return { items, valueBytes: at - from }
}

type PutRow = readonly [topic: string, bytes: number, more?: EventExtras]

/** Encodes values as a log entry. */
export const encodePuts = (puts: readonly TopicPut[]): Buffer =>
  encodeValues(
    puts.map(([topic, value, ...more]): PutRow => [topic, Buffer.byteLength(value), ...more]),
    (i) => puts[i]![1],
  )

/** Values that are published together. */
export interface PutBatch {
  readonly puts: readonly TopicPut[]
  /** Size of the values (bytes). */
  readonly bytes: number
}

/** Decodes the bytes of `encodePuts`. @throws RangeError, SyntaxError if the bytes have another format */
export function decodePuts(bytes: Buffer): PutBatch {
  const { items, valueBytes } = decodeValues<PutRow, TopicPut>(bytes, ([topic, , ...more], value) => [
    topic,
    value,
    ...more,
  ])
  return { puts: items, bytes: valueBytes }
}
