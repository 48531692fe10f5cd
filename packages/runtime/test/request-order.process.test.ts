import { subscribe, unsubscribe } from 'node:diagnostics_channel'
import { writeFileSync } from 'node:fs'
import type { Socket } from 'node:net'
import { basename, join } from 'node:path'
import { beforeEach, describe, expect, onTestFinished, test } from 'vitest'
import { SERVERS } from '../src/settings/settings.ts'
import { startCounter, type RunningCounter } from './support/counter-service.ts'
import { openRawClient, formatRequest } from './support/raw-client.ts'
import { createTemporaryFolder } from './support/temporary-folder.ts'
import { waitUntil } from './support/wait-until.ts'

const get = formatRequest('GET', '/value')
const put = (value: number) => formatRequest('PUT', '/value', {}, JSON.stringify({ value }))

/** A route that is named after a gate replies once the gate is open. */
function createGate() {
  const folder = createTemporaryFolder()
  return { name: basename(folder), open: () => writeFileSync(join(folder, 'open'), '') }
}

/** Number of replies of a route. */
async function countReplies(counter: RunningCounter, route: string): Promise<number> {
  const { body } = await counter.request('GET', '/metrics')
  return Number(new RegExp(`_count\\{[^}]*"${route}"[^}]*\\} (\\d+)`).exec(body)?.[1] ?? 0)
}

// The server's ends of all connections, which are in this process.
let accepted: Socket[]
beforeEach(() => {
  accepted = []
  const onSocket = (message: unknown) => void accepted.push((message as { socket: Socket }).socket)
  subscribe('net.server.socket', onSocket)
  onTestFinished(() => void unsubscribe('net.server.socket', onSocket))
})

describe.each(SERVERS)('requests of one connection, served by %s', (server) => {
  test.each([0, 2])('see the changes before them and none after them, with %i threads', async (threads) => {
    const { port } = await startCounter({ hot: 'yes', server, threads })
    const client = await openRawClient(port)
    client.send(Array.from({ length: 50 }, (_, i) => get + put(i + 1)).join(''))
    for (let i = 0; i < 50; i++) {
      expect((await client.reply()).body).toBe(`{"value":${i}}`)
      expect((await client.reply()).body).toBe(`{"value":${i + 1}}`)
    }
  })

  test('run at the same time if they are safe', async () => {
    const counter = await startCounter({ hot: 'yes', server })
    const [first, second] = [createGate(), createGate()]
    const client = await openRawClient(counter.port)
    client.send([first, second].map(({ name }) => formatRequest('GET', `/gated-later/${name}`)).join(''))
    second.open()
    await waitUntil(async () => (await countReplies(counter, '/gated-later/:folder')) === 1)
    first.open()
    expect([(await client.reply()).status, (await client.reply()).status]).toEqual([200, 200])
  })

  test('are dropped when their client disconnects', async () => {
    const counter = await startCounter({ hot: 'yes', server })
    const latch = createGate()
    const client = await openRawClient(counter.port)
    client.send(formatRequest('GET', `/gated-later/${latch.name}`) + put(7).repeat(100))
    await waitUntil(() => (accepted[0]?.bytesRead ?? 0) > 0)
    client.socket.resetAndDestroy()
    latch.open()
    await waitUntil(() => accepted[0]!.destroyed)
    expect((await counter.request('GET', '/value')).status).toBe(200)
  })

  test('are not executed after a stream', async () => {
    const counter = await startCounter({ hot: 'yes', server })
    const client = await openRawClient(counter.port)
    client.send(put(1) + formatRequest('GET', '/stream/3') + put(7).repeat(100))
    expect((await client.reply()).body).toBe('{"value":1}')
    expect((await client.reply()).headers['content-type']).toBe('text/event-stream')
    await client.closed
    expect((await counter.request('GET', '/value')).body).toBe('{"value":1}')
  })

  test('are not read while too many are pending, and all are answered at last', async () => {
    const { port } = await startCounter({ hot: 'yes', server, maxQueueDelay: 60_000 })
    const latch = createGate()
    const client = await openRawClient(port)
    const requests = Array.from({ length: 3_000 }, (_, i) => formatRequest('PUT', `/items/${i}`, {}, 'x'.repeat(300)))
    const text = requests.join('')
    client.send(formatRequest('GET', `/gated-later/${latch.name}`) + text)
    await waitUntil(() => accepted[0]?.isPaused())
    // A few reads of 64 KiB.
    expect(accepted[0]!.bytesRead).toBeLessThan(200_000)
    expect(text.length).toBeGreaterThan(1_000_000)
    latch.open()
    for (let i = 0; i <= 3_000; i++) expect((await client.reply()).status).toBe(200)
  })
})
