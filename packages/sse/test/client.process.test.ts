import { once } from 'node:events'
import { createServer, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { expect, it, onTestFinished } from 'vitest'
import { createSseClient, type StreamEvent } from '../src/client.ts'
import { startSse } from './support/test-sse.ts'

async function take(events: AsyncIterator<StreamEvent>, count: number): Promise<StreamEvent[]> {
  const taken: StreamEvent[] = []
  while (taken.length < count) {
    const { value, done } = await events.next()
    if (done) break
    taken.push(value)
  }
  return taken
}
const values = (events: readonly StreamEvent[]) =>
  events.map((event) => (event.kind === 'value' ? [event.topic, event.value] : [event.kind]))

it('puts, reads, streams, resumes and counts', async () => {
  const sse = await startSse()
  const client = createSseClient(sse.url)
  expect(await client.getValue('a')).toBeUndefined()
  const first = await client.put('one\ntwo', 'a')
  expect(await client.getValue('a')).toBe('one\ntwo')
  const ended = new AbortController()
  const events = client.subscribe({ topics: ['a'], match: ['b/*'], last: true, signal: ended.signal })
  const stream = events[Symbol.asyncIterator]()
  expect(await take(stream, 1)).toEqual([{ kind: 'value', id: first, topic: 'a', value: 'one\ntwo' }])
  await client.put('three', 'b/1')
  await client.put('unheard', 'c')
  await client.put('{"four":4}', 'a')
  expect(values(await take(stream, 2))).toEqual([
    ['b/1', 'three'],
    ['a', '{"four":4}'],
  ])
  expect((await client.getConnections()).streams).toBe(1)
  ended.abort()
  expect(await take(stream, 1)).toEqual([])
  const resumed = client.subscribe({ topics: ['a'], after: first })[Symbol.asyncIterator]()
  expect(values(await take(resumed, 1))).toEqual([['a', '{"four":4}']])
  const closed = take(resumed, 1)
  await client.closeAll()
  expect(await closed).toEqual([])
  await expect(client.put('x', '')).rejects.toMatchObject({ status: 400, code: 'VALIDATION_FAILED' })
  await expect(take(client.subscribe({ topics: [''] })[Symbol.asyncIterator](), 1)).rejects.toMatchObject({
    status: 400,
  })
})

it('reconnects after a loss with its last id, and stops after 204', async () => {
  const requestedIds: (string | undefined)[] = []
  const requestTimes: number[] = []
  const replies: ((response: ServerResponse) => void)[] = [
    (response) => response.writeHead(503, { 'content-type': 'text/plain' }).end('busy'),
    (response) => response.writeHead(429, { 'retry-after': '3' }).end('busy'),
    (response) => {
      response.writeHead(200, { 'content-type': 'text/event-stream' })
      response.write('retry: 1\n\nid: e-1\ndata: {"topic":"a","value":"1"}\n\n:\n\nid: e-2\n\n')
      // In the middle of an event.
      response.write('id: e-3\ndata: {"to', () => response.destroy())
    },
    (response) => response.end('event: gap\nid: e-7\ndata: \n\n'),
    (response) => response.writeHead(204).end(),
  ]
  const server = createServer((request, response) => {
    requestedIds.push(request.headers['last-event-id'] as string | undefined)
    requestTimes.push(performance.now())
    replies.shift()!(response)
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  onTestFinished(() => void server.close())
  const client = createSseClient(`http://127.0.0.1:${(server.address() as AddressInfo).port}`)
  const events = []
  for await (const event of client.subscribe()) events.push(event)
  expect(events).toEqual([
    { kind: 'value', id: 'e-1', topic: 'a', value: '1' },
    { kind: 'gap', id: 'e-7' },
  ])
  expect(requestedIds).toEqual([undefined, undefined, undefined, 'e-2', 'e-7'])
  // `Retry-After` is longer than the usual delay of 2 s.
  expect(requestTimes[2]! - requestTimes[1]!).toBeGreaterThan(2_900)
})
