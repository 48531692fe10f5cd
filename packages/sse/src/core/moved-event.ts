import type { Event, EventExtras } from './event.ts'

/** First line of an export of sse. */
export const EXPORT_HEAD = { export: 'sse', format: 1 } as const

/** An event without its sequence number: a line of an export. */
export type MovedEvent = Omit<Event, 'seq'>

/** Events of a history, by topic. */
interface StoredTopics {
  readonly topics: readonly { readonly events: readonly Event[] }[]
}

/** Returns the lines of an export: each stored event once, in the order of publication. */
export function toExportLines({ topics }: StoredTopics): MovedEvent[] {
  const bySeq = new Map(topics.flatMap(({ events }) => events.map((event) => [event.seq, event] as const)))
  return [...bySeq.values()]
    .toSorted((a, b) => a.seq - b.seq)
    .map(({ at, topic, value, more }) => ({ at, topic, value, ...(more && { more }) }))
}

const LENGTH_BYTES = 4

type EventRow = readonly [topic: string, bytes: number, at: number, more?: EventExtras]

/** Encodes events as a log entry: the length of the head (u32, big-endian), the head as JSON, and the values. */
export function encodeEvents(events: readonly MovedEvent[]): Buffer {
  const rows = events.map(({ topic, value, at, more }): EventRow => {
    const bytes = Buffer.byteLength(value)
    return more ? [topic, bytes, at, more] : [topic, bytes, at]
  })
  const head = Buffer.from(JSON.stringify(rows))
  const length = Buffer.alloc(LENGTH_BYTES)
  length.writeUInt32BE(head.length)
  return Buffer.concat([length, head, ...events.map(({ value }) => Buffer.from(value))])
}

/** Decodes the bytes of `encodeEvents`. @throws RangeError, SyntaxError if the bytes have another format */
export function decodeEvents(bytes: Buffer): readonly MovedEvent[] {
  let at = LENGTH_BYTES + bytes.readUInt32BE()
  const rows: readonly EventRow[] = JSON.parse(bytes.toString('utf8', LENGTH_BYTES, at))
  const events = rows.map(([topic, length, time, more]): MovedEvent => {
    const value = bytes.toString('utf8', at, (at += length))
    return { topic, value, at: time, ...(more && { more }) }
  })
  if (at !== bytes.length) throw new RangeError('an entry of events has the wrong length')
  return events
}
