import type { Encoder } from './encoder.ts'
import { createEventStreamEncoder, dataOf } from './event-stream.ts'

/** How the protocol spells ids that a hub has made itself: as a fragment of its URL. */
export const mercureId = (id: string): string => `#${id}`

/** `text/event-stream` with what an update says of itself, as the Mercure protocol has it. */
export function createMercureEncoder(): Encoder {
  const plain = createEventStreamEncoder()
  return {
    ...plain,
    name: 'mercure',
    tellsGaps: false,
    position: (id) => plain.position(mercureId(id)),
    value(id, { value, more: { type, retry } = {} }) {
      const fields = (type ? `event: ${type}\n` : '') + (retry === undefined ? '' : `retry: ${retry}\n`)
      return `${fields}id: ${mercureId(id)}\n${dataOf(value)}\n`
    },
    gap: () => '',
    closed: (id) => plain.closed(mercureId(id)),
  }
}
