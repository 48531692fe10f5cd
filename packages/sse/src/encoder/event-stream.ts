import type { Encoder } from './encoder.ts'

const LINE_END = /\r\n|\r|\n/g

/** A field may not hold a line end; clients put one, LF, between two of the same name. */
export const dataOf = (value: string) => `data: ${value.replace(LINE_END, '\ndata: ')}\n`

/** `text/event-stream`, as EventSource reads it. */
export function createEventStreamEncoder(): Encoder {
  return {
    name: 'event-stream',
    tellsGaps: true,
    contentType: 'text/event-stream; charset=utf-8',
    opening: (retry) => `retry: ${retry}\n\n`,
    // An id without data is no event, and yet where the client resumes: nothing is lost before the first event, either.
    position: (id) => `id: ${id}\n\n`,
    value: (id, { value }) => `id: ${id}\n${dataOf(value)}\n`,
    // Without data it would be no event.
    gap: (id) => `event: gap\nid: ${id}\ndata: \n\n`,
    closed: (id) => `event: closed\nid: ${id}\ndata: closed\n\n`,
    farewell: (retry) => `retry: ${retry}\n\n`,
    heartbeat: ':\n\n',
  }
}
