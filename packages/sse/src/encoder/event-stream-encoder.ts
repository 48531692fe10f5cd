import type { Encoder } from './encoder.ts'

const LINE_END = /\r\n|\r|\n/g

/** A field may not hold a line end; clients put one, LF, between two of the same name. */
export const formatData = (value: string) => `data: ${value.replace(LINE_END, '\ndata: ')}\n`

/** `text/event-stream`, as EventSource reads it. */
export function createEventStreamEncoder(): Encoder {
  return {
    name: 'event-stream',
    hasGapEvents: true,
    contentType: 'text/event-stream; charset=utf-8',
    encodeOpening: (retry) => `retry: ${retry}\n\n`,
    // An id without data is no event, and yet where the client resumes: nothing is lost before the first event, either.
    encodePosition: (id) => `id: ${id}\n\n`,
    encodeValue: (id, { value }) => `id: ${id}\n${formatData(value)}\n`,
    // Without data it would be no event.
    encodeGap: (id) => `event: gap\nid: ${id}\ndata: \n\n`,
    encodeClosed: (id) => `event: closed\nid: ${id}\ndata: closed\n\n`,
    encodeGoodbye: (retry) => `retry: ${retry}\n\n`,
    heartbeat: ':\n\n',
  }
}
