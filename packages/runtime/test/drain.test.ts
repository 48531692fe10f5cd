import { describe, expect, test } from 'vitest'
import { SERVERS } from '../src/settings/settings.ts'
import { startFleet } from './support/fleet.ts'
import { rawClient, rawRequest, requestText } from './support/raw-client.ts'
import { spawnStart } from './support/spawn-start.ts'
import { until } from './support/until.ts'

async function startCounter(...args: string[]) {
  const started = spawnStart(['counter', '--port', '0', ...args])
  return { started, port: (await started.ready()).counter!.port }
}

test('with one thread under load no request is lost', async () => {
  const { started, port } = await startCounter('--threads', '1')
  const fleet = await startFleet(port, 64)
  await until(() => (fleet.replies[200] ?? 0) > 2_000)
  const { code, ms } = await started.stop()
  await fleet.done
  expect({ code, lost: fleet.lost }).toEqual({ code: 0, lost: 0 })
  expect(Object.keys(fleet.replies).filter((status) => status !== '200' && status !== '503')).toEqual([])
  expect(ms).toBeLessThan(2_000)
})

describe.each(['0', '2'])('with %s threads', (threads) => {
  test('what is in flight is finished, and its reply ends the connection', async () => {
    const { started, port } = await startCounter('--threads', threads)
    const slow = await rawClient(port)
    slow.send(requestText('GET', '/slow?ms=500'))
    const writer = await rawClient(port)
    writer.send(requestText('PUT', '/value', { 'content-type': 'application/json', 'content-length': '12' }))
    await pause(port)
    const end = started.stop()
    setTimeout(() => writer.send('{"value":42}'), 300)
    const reply = await slow.reply()
    expect([reply.status, reply.body, reply.headers.connection]).toEqual([200, '{"slow":true}', 'close'])
    expect((await writer.reply()).body).toBe('{"value":42}')
    expect(await end).toMatchObject({ code: 0 })
  })

  test('what takes longer than shutdownTimeout is cut', async () => {
    const { started, port } = await startCounter('--threads', threads, '--shutdownTimeout', '300')
    const slow = await rawClient(port)
    slow.send(requestText('GET', '/slow?ms=60000'))
    await pause(port)
    const { code, ms } = await started.stop()
    expect(code).toBe(1)
    expect(ms).toBeLessThan(2_500)
    await slow.closed
  })
})

describe.each(SERVERS)('hot routes served by %s', (server) => {
  test.each(['0', '2'])('with %s threads under load no request is lost', async (threads) => {
    const { started, port } = await startCounter('--hot', 'yes', '--server', server, '--threads', threads)
    const paths = ['/items/ab/view', '/later/5', '/slow-later/3', '/large/bytes', '/value']
    const fleets = await Promise.all(paths.map((path) => startFleet(port, 16, path)))
    await until(() => fleets.every(({ replies }) => (replies[200] ?? 0) > 100))
    const { code, ms } = await started.stop()
    await Promise.all(fleets.map(({ done }) => done))
    expect({ code, lost: fleets.map(({ lost }) => lost) }).toEqual({ code: 0, lost: [0, 0, 0, 0, 0] })
    const statuses = new Set(fleets.flatMap(({ replies }) => Object.keys(replies)))
    expect([...statuses.difference(new Set(['200', '503']))]).toEqual([])
    expect(ms).toBeLessThan(2_000)
  })

  test('what is being answered is finished, and its last reply ends the connection', async () => {
    const { started, port } = await startCounter('--hot', 'yes', '--server', server)
    const slow = await rawClient(port)
    slow.send(requestText('GET', '/slow-later/600'))
    const writer = await rawClient(port)
    writer.send(requestText('PUT', '/items/ab', { 'content-length': '12' }))
    const later = await rawClient(port)
    later.send(requestText('PUT', '/later/1', { 'content-length': '12' }))
    await pause(port)
    const end = started.stop()
    setTimeout(() => [writer, later].map((client) => client.send('x'.repeat(12))), 300)
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

describe.each(SERVERS)('several answers pending on one connection, served by %s', (server) => {
  test('are all finished in their order, the last ends the connection, and what comes behind them is refused', async () => {
    const { started, port } = await startCounter('--hot', 'yes', '--server', server)
    const orders = [
      [1_700, 1_600, 1_500],
      [1_500, 1_600, 1_700],
    ]
    const pending = await Promise.all(
      orders.flatMap((times) =>
        ['/slow-later/', '/slow?ms='].map(async (path) => {
          const client = await rawClient(port)
          client.send(times.map((ms) => requestText('GET', `${path}${ms}`)).join(''))
          return client
        }),
      ),
    )
    // One asks for a hot route then, one for another.
    const late = await Promise.all(
      ['/items/ab/view', '/value'].map(async (path) => ({ path, client: await rawClient(port) })),
    )
    for (const { client } of late)
      client.send(requestText('GET', '/slow-later/1700') + requestText('GET', '/slow-later/1600'))
    await pause(port)
    const end = started.stop()
    await until(
      async () => (await rawRequest(port, requestText('GET', '/readyz')).catch(() => undefined)) === undefined,
    )
    for (const { path, client } of late) client.send(requestText('GET', path))
    for (const client of pending) {
      const replies = [await client.reply(), await client.reply(), await client.reply()]
      expect(replies.map(({ status, headers }) => [status, headers.connection])).toEqual([
        [200, 'keep-alive'],
        [200, 'keep-alive'],
        [200, 'close'],
      ])
      await client.closed
    }
    for (const { client } of late) {
      const replies = [await client.reply(), await client.reply(), await client.reply()]
      expect(replies.map(({ status }) => status)).toEqual([200, 200, 503])
      expect(replies.at(-1)!.headers.connection).toBe('close')
      await client.closed
    }
    expect(await end).toMatchObject({ code: 0 })
  })
})

/** Has a request answered: those that were sent before it have arrived. */
async function pause(port: number): Promise<void> {
  const client = await rawClient(port)
  for (let i = 0; i < 5; i++) {
    client.send(requestText('GET', '/value'))
    await client.reply()
  }
}

test.each(['SIGTERM', 'SIGINT'] as const)(
  'on %s idle connections of all kinds do not hold up the end',
  async (signal) => {
    const { started, port } = await startCounter()
    const clients = await Promise.all(Array.from({ length: 10 }, () => rawClient(port)))
    for (const client of clients.slice(0, 8)) {
      client.send(requestText('GET', '/value'))
      await client.reply()
    }
    // One has sent half a head, one nothing at all.
    clients[8]!.send('GET /value HTTP/1.1\r\n')
    const { code, ms } = await started.stop(signal)
    expect(code).toBe(0)
    expect(ms).toBeLessThan(2_000)
    await Promise.all(clients.map(({ closed }) => closed))
  },
)

test.each(SERVERS)('meanwhile /readyz says so, and new requests get 503: %s', async (server) => {
  const { started, port } = await startCounter('--hot', 'yes', '--server', server)
  const slow = await rawClient(port)
  slow.send(requestText('GET', '/slow?ms=500'))
  const fleets = await Promise.all(['/readyz', '/value', '/items/ab/view'].map((path) => startFleet(port, 1, path)))
  await until(() => fleets.every(({ replies }) => (replies[200] ?? 0) > 10))
  expect(await started.stop()).toMatchObject({ code: 0 })
  await Promise.all(fleets.map(({ done }) => done))
  expect(fleets.map(({ replies, lost }) => [replies[503], lost])).toEqual([
    [1, 0],
    [1, 0],
    [1, 0],
  ])
})

test('signals that come again change nothing', async () => {
  const { started, port } = await startCounter()
  const slow = await rawClient(port)
  slow.send(requestText('GET', '/slow?ms=400'))
  await pause(port)
  const end = started.stop()
  for (const signal of ['SIGTERM', 'SIGINT', 'SIGTERM'] as const) started.kill(signal)
  expect((await slow.reply()).status).toBe(200)
  expect(await end).toMatchObject({ code: 0, signal: null })
})
