import { HUB_ID_MARK } from '../core/event-id.ts'
import type { Encoder } from './encoder.ts'
import { createEventStreamEncoder, formatData } from './event-stream-encoder.ts'

/** Formats an event id as the Mercure protocol requires for ids that the hub assigns: as a URL fragment. */
export const toMercureId = (id: string): string => HUB_ID_MARK + id

/** Creates the encoder of `text/event-stream` with the fields of the Mercure protocol. */
export function createMercureEncoder(): Encoder {
  const plain = createEventStreamEncoder()
  return {
    ...plain,
    name: 'mercure',
    hasGapEvents: false,
    encodePosition: (id, isEventSource) => plain.encodePosition(toMercureId(id), isEventSource),
    encodeValue(id, { value, more: { id: publisherId, type, retry } = {} }) {
      const fields = (type ? `event: ${type}\n` : '') + (retry === undefined ? '' : `retry: ${retry}\n`)
      return `${fields}id: ${publisherId ?? toMercureId(id)}\n${formatData(value)}\n`
    },
    encodeGap: () => '',
    encodeClosed: (id) => plain.encodeClosed(toMercureId(id)),
  }
}
