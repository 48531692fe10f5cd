import { subscribe, unsubscribe } from 'node:diagnostics_channel'
import { randomBytes } from 'node:crypto'
import type { Socket } from 'node:net'
import { setImmediate as nextTurn } from 'node:timers/promises'
import { beforeEach, expect, onTestFinished, test } from 'vitest'
import { LARGE_BODY_BYTES } from './fixtures/hot-routes.ts'
import { expectProblem, startCounter } from './support/counter-service.ts'
import { startProcessClock } from './support/process-clock.ts'
import { openRawClient, formatRequest, type RawClient, type RawReply } from './support/raw-client.ts'
import { SERVERS } from '../src/settings/settings.ts'
import { spawnStart } from './support/spawn-start.ts'
import { waitUntil } from './support/wait-until.ts'

const isLong = Number(process.env.SERVER_CASES ?? 0) >= 100_000
const MAX_UNREAD = 65_536
const VIEW = formatRequest('GET', '/items/ab/view')

const start = (settings: Record<string, number | string> = {}) =>
  startCounter({ hot: 'yes', server: 'raw', ...settings })
const createMany = <T>(count: number, make: (i: number) => Promise<T>) =>
  Promise.all(Array.from({ length: count }, (_, i) => make(i)))

// The server's ends of all connections, which are in this process.
let accepted: Socket[]
beforeEach(() => {
  accepted = []
  const onSocket = (message: unknown) => void accepted.push((message as { socket: Socket }).socket)
  subscribe('net.server.socket', onSocket)
  onTestFinished(() => void unsubscribe('net.server.socket', onSocket))
})

async function requestOn(client: RawClient, text = VIEW): Promise<RawReply> {
  client.send(text)
  return client.reply()
}

test.each([
  ['heads', 'GET /items/ab/view HTTP/1.1\r\nHost: localhost\r\nx-long: ', 'x'],
  ['bodies', `${formatRequest('PUT', '/items/ab', { 'content-length': '1000' })}`, 'x'],
])('500 slow %s get 408 without a delay for others', async (_what, first, next) => {
  const { port } = await start({ headersTimeout: 1_000, requestTimeout: 1_500 })
  const clients = await createMany(500, () => openRawClient(port))
  const time = startProcessClock()
  for (const client of clients) client.send(first)
  const drip = setInterval(() => clients.forEach((client) => client.socket.writable && client.send(next)), 250)
  onTestFinished(() => clearInterval(drip))
  // On a busy machine, other requests may also be too slow.
  const served = () => waitUntil(async () => (await requestOn(await openRawClient(port))).status === 200)
  await served()
  await Promise.all(
    clients.map(async (client) => {
      expectProblem(await client.reply(), 408, 'REQUEST_TIMEOUT')
      await client.closed
    }),
  )
  // The adapter holds an incomplete head for at most 1.5 s. Then the timeouts of Node begin, which it checks twice a
  // second.
  expect(time()).toBeLessThan(8_000)
  await served()
})

test('300 clients that never read use bounded memory each, and are cut', async () => {
  const { port } = await start({ sendTimeout: 1_500, maxWriteBuffer: MAX_UNREAD })
  const clients = await createMany(300, () => openRawClient(port))
  const sockets = [...accepted]
  for (const [i, client] of clients.entries()) {
    client.socket.pause()
    // Some replies are ready at once, some later.
    client.send((formatRequest('GET', '/large/bytes') + (i % 2 ? formatRequest('GET', '/later/1') : VIEW)).repeat(100))
  }
  let max = 0
  const watch = setInterval(() => (max = Math.max(max, ...sockets.map((one) => one.writableLength))), 5)
  onTestFinished(() => clearInterval(watch))
  await waitUntil(() => sockets.every(({ destroyed }) => destroyed))
  expect(max).toBeGreaterThan(0)
  expect(max).toBeLessThan(MAX_UNREAD + LARGE_BODY_BYTES + 20_000)
  expect((await requestOn(await openRawClient(port))).status).toBe(200)
})

test.each(SERVERS)('%s: cuts a client that never reads, and serves one that reads slowly', async (server) => {
  // On a busy machine, a slow client may read too slowly: then the test repeats with a longer timeout.
  let sendTimeout = 250
  await waitUntil(() => isOnlyUnreadCut({ server, sendTimeout: (sendTimeout *= 2) }))
})

async function isOnlyUnreadCut(settings: Record<string, number | string>): Promise<boolean> {
  const { port } = await start(settings)
  const from = accepted.length
  const [never, slowly] = [await openRawClient(port), await openRawClient(port)]
  never.socket.pause()
  for (const client of [never, slowly]) client.send(formatRequest('GET', '/large/bytes').repeat(100))
  const reading = setInterval(() => (slowly.socket.isPaused() ? slowly.socket.resume() : slowly.socket.pause()), 100)
  onTestFinished(() => clearInterval(reading))
  for (let i = 0; i < 100; i++) {
    const reply = await slowly.reply().catch(() => undefined)
    if (!reply) return false
    expect(reply.body.length).toBe(LARGE_BODY_BYTES)
  }
  await waitUntil(() => accepted[from]!.destroyed)
  return !accepted[from + 1]!.destroyed
}

test('bounds replies that wait for a slow one before them', async () => {
  const counter = await start({ maxWriteBuffer: MAX_UNREAD })
  const client = await openRawClient(counter.port)
  client.send(formatRequest('GET', '/slow-later/500') + formatRequest('GET', '/large/bytes').repeat(60))
  const made = async () => {
    const { body } = await counter.request('GET', '/metrics')
    return Number(/_count\{[^}]*"\/large\/bytes"[^}]*\} (\d+)/.exec(body)?.[1] ?? 0)
  }
  await waitUntil(async () => (await made()) > 0)
  expect(await made()).toBe(1)
  expect((await client.reply()).status).toBe(200)
  for (let i = 0; i < 60; i++) expect((await client.reply()).body.length).toBe(LARGE_BODY_BYTES)
  expect(await made()).toBe(60)
})

test('a client that reads slowly gets all replies', async () => {
  const { port } = await start({ maxWriteBuffer: MAX_UNREAD })
  const client = await openRawClient(port)
  client.send(formatRequest('GET', '/large/bytes').repeat(100) + VIEW)
  for (let i = 0; i < 100; i++) expect((await client.reply()).body.length).toBe(LARGE_BODY_BYTES)
  expect((await client.reply()).body).toBe('item ab')
})

test('refuses floods of garbage without a delay for others', async () => {
  const { port } = await start()
  const other = await openRawClient(port)
  await createMany(200, async (i) => {
    const client = await openRawClient(port)
    client.send((i % 2 ? '' : VIEW) + randomBytes(60_000).toString('latin1'))
    await client.closed
  })
  expect((await requestOn(other)).status).toBe(200)
})

// The server runs in a separate process: both ends in one process would exceed the limit of open files.
async function openIdleClients(keepAliveTimeout: number): Promise<RawClient[]> {
  const timeouts = ['--keep-alive-timeout', String(keepAliveTimeout), '--headers-timeout', '600000']
  // All clients send at once. On a busy machine, load shedding would refuse some.
  const settings = ['--port', '0', '--hot', 'yes', '--max-queue-delay', '0', ...timeouts]
  const { port } = (await spawnStart(['counter', ...settings]).waitUntilReady()).counter!
  return createMany(isLong ? 10_000 : 2_000, async () => {
    const client = await openRawClient(port)
    expect((await requestOn(client)).status).toBe(200)
    return client
  })
}

test('serves thousands of connections again after they were idle', async () => {
  const clients = await openIdleClients(600_000)
  const replies = await Promise.all(clients.map((client) => requestOn(client)))
  expect(replies.every(({ status }) => status === 200)).toBe(true)
  expect(clients.some(({ socket }) => socket.destroyed)).toBe(false)
})

test('closes thousands of idle connections', async () => {
  const clients = await openIdleClients(1_000)
  expect(await Promise.all(clients.map(({ closed }) => closed))).toHaveLength(clients.length)
})

test('accepts at most maxConnections, and one more when another ends', async () => {
  const { port } = await start({ maxConnections: 20 })
  const clients = await createMany(20, () => openRawClient(port))
  await Promise.all(clients.map((client) => requestOn(client)))
  await (
    await openRawClient(port)
  ).closed
  clients[0]!.socket.destroy()
  await waitUntil(() => accepted.filter(({ destroyed }) => !destroyed).length === 19)
  expect((await requestOn(await openRawClient(port))).status).toBe(200)
})

test('a pipeline of 10,000 requests does not delay others', async () => {
  const { port } = await start()
  const [long, other] = [await openRawClient(port), await openRawClient(port)]
  long.send(VIEW.repeat(10_000))
  let replies = 0
  const answered = (async () => {
    for (; replies < 10_000; replies++) expect((await long.reply()).status).toBe(200)
  })()
  await waitUntil(() => replies > 0)
  await requestOn(other)
  expect(replies).toBeLessThan(10_000)
  await answered
})

test('a body of one-byte pieces arrives complete', async () => {
  const { port } = await start()
  const body = 'abcdefghijklmnopqrstuvwxyz'
  const text = formatRequest('PUT', '/items/ab', {}, body)
  const [whole, client] = [await openRawClient(port), await openRawClient(port)]
  const before = accepted[1]!
  for (const [sent, byte] of [...text].entries()) {
    client.send(byte)
    while (before.bytesRead <= sent) await nextTurn()
  }
  expect((await client.reply()).body).toBe((await requestOn(whole, text)).body)
})

test('replies have the order of their requests, for any durations', async () => {
  const { port } = await start()
  const client = await openRawClient(port)
  const expected = Array.from({ length: 600 }, (_, i) => String(i % 7 === 0 ? i % 10 : (i * 7) % 10))
  const texts = expected.map((turns, i) => {
    if (i % 3 === 0) return formatRequest('PUT', `/items/${turns}`, {}, 'x')
    return i % 5 === 0
      ? formatRequest('PUT', `/later/${turns}`, {}, 'x'.repeat(i))
      : formatRequest('GET', `/later/${turns}`)
  })
  client.send(texts.join(''))
  for (const turns of expected) expect(JSON.parse((await client.reply()).body).id).toBe(turns)
})

test('a client that disconnects before its reply causes no fault', async () => {
  const { port } = await start()
  const clients = await createMany(100, () => openRawClient(port))
  for (const [i, client] of clients.entries()) {
    client.send(formatRequest('GET', '/later/9').repeat(5) + (i % 2 ? 'GET /lat' : 'nonsense'))
    if (i % 3 === 0) client.socket.resetAndDestroy()
    else client.socket.destroy()
  }
  await waitUntil(() => accepted.every(({ destroyed }) => destroyed))
  expect((await requestOn(await openRawClient(port))).status).toBe(200)
})

test('a client that has ended its side still gets its replies', async () => {
  const { port } = await start()
  const client = await openRawClient(port, { allowHalfOpen: true })
  client.socket.end(VIEW + formatRequest('GET', '/later/9').repeat(100) + formatRequest('GET', '/value') + VIEW)
  for (let i = 0; i < 103; i++) expect((await client.reply()).status).toBe(200)
  await client.closed
})

test('answers a DELETE with a type and no body at once, as fetch sends it', async () => {
  for (const server of ['fastify', 'node-http', 'raw']) {
    const { url } = await startCounter({ hot: 'yes', server })
    for (const path of ['/items/ab', '/plain/ab']) {
      const reply = await fetch(url + path, { method: 'DELETE', headers: { 'content-type': 'application/json' } })
      expect([server, path, reply.status]).toEqual([server, path, 200])
    }
  }
})
