import { CHUNKS } from '@influencer-stats/runtime/framing'
import type { Encoder } from './encoder.ts'

const LINE_END = /\r\n|\r|\n/g

/**
 * Formats a value as `data` fields, one per line of the value, because a field cannot contain a line end. Clients join
 * the fields with LF.
 */
export const formatData = (value: string) => `data: ${value.replace(LINE_END, '\ndata: ')}\n`

/** Creates the encoder of `text/event-stream`, the format of EventSource. */
export function createEventStreamEncoder(): Encoder {
  return {
    name: 'event-stream',
    framing: CHUNKS,
    hasGapEvents: true,
    contentType: 'text/event-stream; charset=utf-8',
    // Without an empty line: many clients take the block that it would end for an empty message. So the fields belong to
    // the block of the next event.
    encodeOpening: (retry) => `retry: ${retry}\n`,
    // So a client that loses its stream before the first event resumes, too.
    encodePosition: (id, isEventSource) => `id: ${id}\n${isEventSource ? '\n' : ''}`,
    encodeValue: (id, { value }) => `id: ${id}\n${formatData(value)}\n`,
    // Clients ignore an event without the field `data`, so this event has an empty one.
    encodeGap: (id) => `event: gap\nid: ${id}\ndata: \n\n`,
    encodeClosed: (id) => `event: closed\nid: ${id}\ndata: closed\n\n`,
    encodeGoodbye: (retry) => `retry: ${retry}\n`,
    heartbeat: ':\n',
  }
}
