import { once } from 'node:events'
import { createServer, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { expect, it, onTestFinished } from 'vitest'
import { createKvClient } from '../src/client.ts'

/** Starts a service that sends each request the next of these replies. Returns the times of the requests (ms). */
async function startScripted(...replies: ((response: ServerResponse) => void)[]) {
  const requestTimes: number[] = []
  const server = createServer((_request, response) => {
    requestTimes.push(performance.now())
    replies.shift()!(response)
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const client = createKvClient(`http://127.0.0.1:${(server.address() as AddressInfo).port}`)
  onTestFinished(async () => {
    await client.close()
    server.close()
  })
  return { client, requestTimes }
}

it('opens a stream again after 429, no earlier than Retry-After states', async () => {
  const { client, requestTimes } = await startScripted(
    (response) => response.writeHead(429, { 'retry-after': '2' }).end(),
    (response) => response.end('id: 5\n\n'),
  )
  const stream = client.watch()[Symbol.asyncIterator]()
  expect(await stream.next()).toEqual({ done: false, value: { sequence: 5, changes: [] } })
  // The usual delay is 1 s.
  expect(requestTimes[1]! - requestTimes[0]!).toBeGreaterThan(1_900)
  await stream.return!()
})

it('throws a refusal that is permanent', async () => {
  const { client } = await startScripted((response) => response.writeHead(410).end('{"code":"SEQUENCE_EXPIRED"}'))
  const stream = client.watch({ after: 1 })[Symbol.asyncIterator]()
  await expect(stream.next()).rejects.toMatchObject({ status: 410, code: 'SEQUENCE_EXPIRED' })
})
