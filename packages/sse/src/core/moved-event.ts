import type { Event, EventExtras } from './event.ts'
import { decodeValues, encodeValues } from './encode-puts.ts'

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

type EventRow = readonly [topic: string, bytes: number, at: number, more?: EventExtras]

/** Encodes events as a log entry. */
export const encodeEvents = (events: readonly MovedEvent[]): Buffer =>
  encodeValues(
    events.map(({ topic, value, at, more }): EventRow => {
      const bytes = Buffer.byteLength(value)
      return more ? [topic, bytes, at, more] : [topic, bytes, at]
    }),
    (i) => events[i]!.value,
  )

/** Decodes the bytes of `encodeEvents`. @throws RangeError, SyntaxError if the bytes have another format */
export const decodeEvents = (bytes: Buffer): readonly MovedEvent[] =>
  decodeValues<EventRow, MovedEvent>(bytes, ([topic, , at, more], value) => ({
    topic,
    value,
    at,
    ...(more && { more }),
  })).items
