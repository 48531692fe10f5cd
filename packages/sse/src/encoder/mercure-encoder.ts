import type { Encoder } from './encoder.ts'
import { createEventStreamEncoder, formatData } from './event-stream-encoder.ts'

/** Formats an id that the hub assigned, as the protocol requires: as a fragment of the hub's URL. */
export const toMercureId = (id: string): string => `#${id}`

/** `text/event-stream` with the optional fields of an update, as the Mercure protocol defines it. */
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
