import { expect, test } from 'vitest'
import { readEventStream } from '../src/client/event-stream.ts'

test('yields events, and blocks without an event, for chunks of any size', async () => {
  const text = 'retry: 400\n\n:\n\nid: 1\n\nevent: put\ndata: é\ndata: b\nid: 2\n\ndata: \n\ndata: cut'
  const bytes = new TextEncoder().encode(text)
  for (const size of [1, 7, bytes.length]) {
    async function* cut() {
      for (let from = 0; from < bytes.length; from += size) yield bytes.subarray(from, from + size)
    }
    expect(await Array.fromAsync(readEventStream(cut()))).toEqual([
      { retry: 400 },
      {},
      { id: '1' },
      { id: '2', event: 'put', data: 'é\nb' },
      { data: '' },
    ])
  }
})
