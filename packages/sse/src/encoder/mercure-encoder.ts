import type { Encoder } from './encoder.ts'
import { createEventStreamEncoder, formatData } from './event-stream-encoder.ts'

/** How the protocol spells ids that a hub has made itself: as a fragment of its URL. */
export const toMercureId = (id: string): string => `#${id}`

/** `text/event-stream` with what an update says of itself, as the Mercure protocol has it. */
export function createMercureEncoder(): Encoder {
  const plain = createEventStreamEncoder()
  return {
    ...plain,
    name: 'mercure',
    hasGapEvents: false,
    encodePosition: (id) => plain.encodePosition(toMercureId(id)),
    encodeValue(id, { value, more: { type, retry } = {} }) {
      const fields = (type ? `event: ${type}\n` : '') + (retry === undefined ? '' : `retry: ${retry}\n`)
      return `${fields}id: ${toMercureId(id)}\n${formatData(value)}\n`
    },
    encodeGap: () => '',
    encodeClosed: (id) => plain.encodeClosed(toMercureId(id)),
  }
}
