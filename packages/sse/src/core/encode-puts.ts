import type { EventExtras, TopicPut } from './event.ts'

// What a log's entry of values is: u32 length of a head, the head, and the values' bytes, one behind the other.
//   head  JSON: of each value its topic, its length (bytes), and what else it may say

const LENGTH_BYTES = 4

type PutRow = readonly [topic: string, bytes: number, more?: EventExtras]

export function encodePuts(puts: readonly TopicPut[]): Buffer {
  const rows = puts.map(([topic, value, ...more]): PutRow => [topic, Buffer.byteLength(value), ...more])
  const head = Buffer.from(JSON.stringify(rows))
  const bytes = Buffer.allocUnsafe(rows.reduce((sum, [, length]) => sum + length, LENGTH_BYTES + head.length))
  let at = bytes.writeUInt32BE(head.length)
  at += head.copy(bytes, at)
  for (const [, value] of puts) at += bytes.write(value, at)
  return bytes
}

/** @throws RangeError, SyntaxError where it is none */
export function decodePuts(bytes: Buffer): TopicPut[] {
  let at = LENGTH_BYTES + bytes.readUInt32BE()
  const rows: readonly PutRow[] = JSON.parse(bytes.toString('utf8', LENGTH_BYTES, at))
  const puts = rows.map(([topic, length, ...more]): TopicPut => [
    topic,
    bytes.toString('utf8', at, (at += length)),
    ...more,
  ])
  if (at !== bytes.length) throw new RangeError('an entry of values is cut')
  return puts
}
