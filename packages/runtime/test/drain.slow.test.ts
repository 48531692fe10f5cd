import { writeFileSync } from 'node:fs'
import { basename, join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { describe, expect, test } from 'vitest'
import { SERVERS } from '../src/settings/settings.ts'
import { SHUTDOWN_GRACE_MS } from '../src/worker/drain.ts'
import { startClientFleet } from './support/client-fleet.ts'
import { openRawClient, sendRawRequest, formatRequest } from './support/raw-client.ts'
import { spawnStart } from './support/spawn-start.ts'
import { createTemporaryFolder } from './support/temporary-folder.ts'
import { waitUntil } from './support/wait-until.ts'

// A shutdown that waits for an idle or incomplete connection would never end with these timeouts. A busy machine delays
// requests: without a limit, none of them is refused.
const LENIENT_FLAGS = [
  ...['headersTimeout', 'requestTimeout', 'keepAliveTimeout', 'shutdownTimeout'].flatMap((name) => [
    `--${name}`,
    '3600000',
  ]),
  '--maxQueueDelay',
  '0',
]

async function startCounter(...args: string[]) {
  // The last value of a flag counts.
  const started = spawnStart(['counter', '--port', '0', ...LENIENT_FLAGS, '--threads', '1', ...args])
  return { started, port: (await started.waitUntilReady()).counter!.port }
}

test('loses no request under load with one thread', async () => {
  const { started, port } = await startCounter('--threads', '1')
  const fleet = await startClientFleet(port, 64)
  await waitUntil(() => (fleet.replies[200] ?? 0) > 500)
  const { code } = await started.stop()
  await fleet.done
  expect({ code, lost: fleet.lost }).toEqual({ code: 0, lost: 0 })
  expect(Object.keys(fleet.replies)).toEqual(['200'])
})

describe.each(['0', '2'])('with %s threads', (threads) => {
  test('completes pending requests, and their replies end the connection', async () => {
    const { started, port } = await startCounter('--threads', threads)
    const latch = createGate()
    const slow = await openRawClient(port)
    slow.send(formatRequest('GET', `/gated/${latch.name}`))
    const writer = await openRawClient(port)
    writer.send(formatRequest('PUT', '/value', { 'content-type': 'application/json', 'content-length': '12' }))
    await sendAndWait(port)
    const end = started.stop()
    await waitForDrain(port)
    writer.send('{"value":42}')
    latch.open()
    const reply = await slow.reply()
    expect([reply.status, reply.body, reply.headers.connection]).toEqual([200, '{"slow":true}', 'close'])
    expect((await writer.reply()).body).toBe('{"value":42}')
    expect(await end).toMatchObject({ code: 0 })
  })

  test('cuts requests that take longer than shutdownTimeout', async () => {
    const { started, port } = await startCounter('--threads', threads, '--shutdown-timeout', '300')
    const slow = await openRawClient(port)
    slow.send(formatRequest('GET', '/slow?ms=60000'))
    await sendAndWait(port)
    expect((await started.stop()).code).toBe(1)
    await slow.closed
  })
})

describe.each(SERVERS)('hot routes served by %s', (server) => {
  test.each(['0', '2'])('loses no request under load with %s threads', async (threads) => {
    const { started, port } = await startCounter('--hot', 'yes', '--server', server, '--threads', threads)
    const paths = ['/items/ab/view', '/later/5', '/slow-later/3', '/large/bytes', '/value']
    const fleets = await Promise.all(paths.map((path) => startClientFleet(port, 16, path)))
    await waitUntil(() => fleets.every(({ replies }) => (replies[200] ?? 0) > 40))
    const { code } = await started.stop()
    await Promise.all(fleets.map(({ done }) => done))
    expect({ code, lost: fleets.map(({ lost }) => lost) }).toEqual({ code: 0, lost: [0, 0, 0, 0, 0] })
    const statuses = new Set(fleets.flatMap(({ replies }) => Object.keys(replies)))
    expect([...statuses]).toEqual(['200'])
  })

  test('completes a pending reply, which ends the connection', async () => {
    const { started, port } = await startCounter('--hot', 'yes', '--server', server)
    const latch = createGate()
    const slow = await openRawClient(port)
    slow.send(formatRequest('GET', `/gated-later/${latch.name}`))
    const writer = await openRawClient(port)
    writer.send(formatRequest('PUT', '/items/ab', { 'content-length': '12' }))
    const later = await openRawClient(port)
    later.send(formatRequest('PUT', '/later/1', { 'content-length': '12' }))
    await sendAndWait(port)
    const end = started.stop()
    await waitForDrain(port)
    for (const client of [writer, later]) client.send('x'.repeat(12))
    latch.open()
    const reply = await slow.reply()
    expect([reply.status, reply.headers.connection]).toEqual([200, 'close'])
    for (const client of [writer, later]) {
      const { status, headers } = await client.reply()
      expect([status, headers.connection]).toEqual([200, 'close'])
    }
    await Promise.all([slow, writer, later].map(({ closed }) => closed))
    expect(await end).toMatchObject({ code: 0 })
  })
})

describe.each(SERVERS)('several pending replies on one connection, served by %s', (server) => {
  test('are sent in order, and the last ends the connection, also if it was requested during the drain', async () => {
    const { started, port } = await startCounter('--hot', 'yes', '--server', server)
    const gates = [createGate(), createGate(), createGate(), createGate(), createGate()]
    const orders = [gates.slice(0, 3), gates.slice(0, 3).toReversed()]
    const pending = await Promise.all(
      orders.flatMap((order) =>
        ['gated-later', 'gated'].map(async (route) => {
          const client = await openRawClient(port)
          client.send(order.map(({ name }) => formatRequest('GET', `/${route}/${name}`)).join(''))
          return client
        }),
      ),
    )
    // During the drain one requests a hot route, the other a Fastify route.
    const late = await Promise.all(
      ['/items/ab/view', '/value'].map(async (path) => ({ path, client: await openRawClient(port) })),
    )
    for (const { client } of late)
      client.send(
        gates
          .slice(3)
          .map(({ name }) => formatRequest('GET', `/gated-later/${name}`))
          .join(''),
      )
    await sendAndWait(port)
    const end = started.stop()
    await waitForDrain(port)
    for (const { path, client } of late) client.send(formatRequest('GET', path))
    // Each of these replies takes a turn of the event loop, so the server reads the late requests before it sends the last.
    const [first] = pending
    const firstReplies = []
    for (const one of gates.slice(0, 3)) {
      one.open()
      firstReplies.push(await first!.reply())
    }
    for (const one of gates.slice(3)) {
      one.open()
      await delay(20)
    }
    for (const client of pending) {
      const replies =
        client === first ? firstReplies : [await client.reply(), await client.reply(), await client.reply()]
      expect(replies.map(({ status, headers }) => [status, headers.connection])).toEqual([
        [200, 'keep-alive'],
        [200, 'keep-alive'],
        [200, 'close'],
      ])
      await client.closed
    }
    for (const { client } of late) {
      const replies = [await client.reply(), await client.reply(), await client.reply()]
      expect(replies.map(({ status, headers }) => [status, headers.connection])).toEqual([
        [200, 'keep-alive'],
        [200, 'keep-alive'],
        [200, 'close'],
      ])
      await client.closed
    }
    expect(await end).toMatchObject({ code: 0 })
  })
})

/** A gate that opens the replies of routes with its name. */
function createGate() {
  const folder = createTemporaryFolder()
  return { name: basename(folder), open: () => writeFileSync(join(folder, 'open'), '') }
}

/** Resolves once the server refuses new connections. */
const waitForDrain = (port: number) =>
  waitUntil(
    async () => (await sendRawRequest(port, formatRequest('GET', '/readyz')).catch(() => undefined)) === undefined,
  )

/** Waits for a reply. By then, the server has read all requests that were sent before. */
async function sendAndWait(port: number): Promise<void> {
  const client = await openRawClient(port)
  for (let i = 0; i < 5; i++) {
    client.send(formatRequest('GET', '/value'))
    await client.reply()
  }
}

test.each(['SIGTERM', 'SIGINT'] as const)(
  'idle connections of all kinds do not delay the exit after %s',
  async (signal) => {
    const { started, port } = await startCounter()
    const clients = await Promise.all(Array.from({ length: 10 }, () => openRawClient(port)))
    for (const client of clients.slice(0, 8)) {
      client.send(formatRequest('GET', '/value'))
      await client.reply()
    }
    // One has sent half a head, another no bytes at all.
    clients[8]!.send('GET /value HTTP/1.1\r\n')
    expect((await started.stop(signal)).code).toBe(0)
    await Promise.all(clients.map(({ closed }) => closed))
  },
)

test.each(SERVERS)(
  'during a drain /readyz is 503, and the next request of each connection its last: %s',
  async (server) => {
    const { started, port } = await startCounter('--hot', 'yes', '--server', server)
    const latch = createGate()
    const slow = await openRawClient(port)
    slow.send(formatRequest('GET', `/gated/${latch.name}`))
    const fleets = await Promise.all(
      ['/readyz', '/value', '/items/ab/view'].map((path) => startClientFleet(port, 1, path)),
    )
    await waitUntil(() => fleets.every(({ replies }) => (replies[200] ?? 0) > 10))
    const end = started.stop()
    await Promise.all(fleets.map(({ done }) => done))
    latch.open()
    expect(await end).toMatchObject({ code: 0 })
    expect(fleets.map(({ replies, lost }) => [replies[503], lost])).toEqual([
      [1, 0],
      [undefined, 0],
      [undefined, 0],
    ])
  },
)

test('a request on a new connection is answered while the drain begins', async () => {
  const requestOnce = async (port: number, path: string) => {
    const client = await openRawClient(port)
    client.send(formatRequest('GET', path))
    return client.reply()
  }
  // A busy machine may be later than the grace, so that the connection is refused; then another server is stopped.
  const reply = await waitUntil(async () => {
    const { started, port } = await startCounter()
    // Its idle connection causes the grace.
    await openRawClient(port)
    await sendAndWait(port)
    const end = started.stop()
    let readyAt = 0
    try {
      do readyAt = performance.now()
      while ((await requestOnce(port, '/readyz')).status === 200)
      return await requestOnce(port, '/value')
    } catch (error) {
      if (performance.now() - readyAt < SHUTDOWN_GRACE_MS / 2) throw error
      return undefined
    } finally {
      expect((await end).code).toBe(0)
    }
  })
  expect([reply.status, reply.headers.connection]).toEqual([200, 'close'])
})

test('repeated signals have no further effect', async () => {
  const { started, port } = await startCounter()
  const latch = createGate()
  const slow = await openRawClient(port)
  slow.send(formatRequest('GET', `/gated/${latch.name}`))
  await sendAndWait(port)
  const end = started.stop()
  for (const signal of ['SIGTERM', 'SIGINT', 'SIGTERM'] as const) started.kill(signal)
  await waitForDrain(port)
  latch.open()
  expect((await slow.reply()).status).toBe(200)
  expect(await end).toMatchObject({ code: 0, signal: null })
})
