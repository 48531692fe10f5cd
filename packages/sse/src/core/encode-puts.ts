import type { EventExtras, TopicPut } from './event.ts'

// Format of a log entry with values: the length of the head (u32, big-endian), the head, and the concatenated bytes of
// the values. The head is a JSON list with the topic, the length (bytes) and the optional fields (`EventExtras`) of
// each value.

const LENGTH_BYTES = 4

type PutRow = readonly [topic: string, bytes: number, more?: EventExtras]

/** Encodes values as a log entry. */
export function encodePuts(puts: readonly TopicPut[]): Buffer {
  const rows = puts.map(([topic, value, ...more]): PutRow => [topic, Buffer.byteLength(value), ...more])
  const head = Buffer.from(JSON.stringify(rows))
  const bytes = Buffer.allocUnsafe(rows.reduce((sum, [, length]) => sum + length, LENGTH_BYTES + head.length))
  let at = bytes.writeUInt32BE(head.length)
  at += head.copy(bytes, at)
  for (const [, value] of puts) at += bytes.write(value, at)
  return bytes
}

/** Values that are published together. */
export interface PutBatch {
  readonly puts: readonly TopicPut[]
  /** Size of the values (bytes). */
  readonly bytes: number
}

/** Decodes the bytes of `encodePuts`. @throws RangeError, SyntaxError if the bytes have another format */
export function decodePuts(bytes: Buffer): PutBatch {
  const from = LENGTH_BYTES + bytes.readUInt32BE()
  let at = from
  const rows: readonly PutRow[] = JSON.parse(bytes.toString('utf8', LENGTH_BYTES, from))
  const puts = rows.map(([topic, length, ...more]): TopicPut => [
    topic,
    bytes.toString('utf8', at, (at += length)),
    ...more,
  ])
  if (at !== bytes.length) throw new RangeError('an entry of values has the wrong length')
  return { puts, bytes: at - from }
}
