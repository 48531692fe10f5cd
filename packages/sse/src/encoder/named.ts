import type { Encoder } from './encoder.ts'
import { createEventStreamEncoder, dataOf } from './event-stream.ts'

/** The same with values that say whose they are: `{"topic":"a","value":"1"}`. */
export const createNamedEncoder = (): Encoder => ({
  ...createEventStreamEncoder(),
  name: 'named',
  value: (id, { topic, value }) => `id: ${id}\n${dataOf(JSON.stringify({ topic, value }))}\n`,
})
