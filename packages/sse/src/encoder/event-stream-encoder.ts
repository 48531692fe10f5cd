import type { Encoder } from './encoder.ts'

const LINE_END = /\r\n|\r|\n/g

/** Formats a value as data fields. A field cannot contain a line end; clients join fields of the same name with LF. */
export const formatData = (value: string) => `data: ${value.replace(LINE_END, '\ndata: ')}\n`

/** `text/event-stream`, as EventSource reads it. */
export function createEventStreamEncoder(): Encoder {
  return {
    name: 'event-stream',
    hasGapEvents: true,
    contentType: 'text/event-stream; charset=utf-8',
    encodeOpening: (retry) => `retry: ${retry}\n\n`,
    // An id without data is not an event, but the client resumes after it: it loses nothing before the first event
    // either.
    encodePosition: (id) => `id: ${id}\n\n`,
    encodeValue: (id, { value }) => `id: ${id}\n${formatData(value)}\n`,
    // Without data it would not be an event.
    encodeGap: (id) => `event: gap\nid: ${id}\ndata: \n\n`,
    encodeClosed: (id) => `event: closed\nid: ${id}\ndata: closed\n\n`,
    encodeGoodbye: (retry) => `retry: ${retry}\n\n`,
    heartbeat: ':\n\n',
  }
}
