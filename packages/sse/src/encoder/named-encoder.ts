import type { Encoder } from './encoder.ts'
import { createEventStreamEncoder, formatData } from './event-stream-encoder.ts'

/** Creates the encoder of `text/event-stream` whose data is JSON with the topic: `{"topic":"a","value":"1"}`. */
export const createNamedEncoder = (): Encoder => ({
  ...createEventStreamEncoder(),
  name: 'named',
  encodeValue: (id, { topic, value }) => `id: ${id}\n${formatData(JSON.stringify({ topic, value }))}\n`,
})
