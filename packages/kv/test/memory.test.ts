import { readFileSync } from 'node:fs'
import { connect, type Socket } from 'node:net'
import { expect, onTestFinished, test } from 'vitest'
import { createKvClient } from '../src/client.ts'
import { SERVERS } from '@influencer-stats/runtime/settings'
import { rawClient, requestText, unreadClient } from '@influencer-stats/runtime/testing/raw-client'
import { temporaryFolder } from '@influencer-stats/runtime/testing/temporary'
import { until } from '@influencer-stats/runtime/testing/until'
import { spawnKv } from './support/process.ts'

const MIB = 1_048_576
const BUDGET = 64 * MIB
// Replies of a MiB that nobody reads: far more than a process takes beside what it holds for its clients (its own 120 MB,
// and garbage that a busy machine has not collected yet), so that the bound between the two is near neither.
// Each holds an eighth of the budget and a reply: what is left is room for a put of 8 MiB, which counts as a body and as
// what waits to be written, however little of the replies the system has taken yet.
const READERS = 5
const REPLIES = 300
// Twice as many as there is room for: each costs reading 8 MiB, also one that is refused.
const SCANNERS = 8
const MOST = 1_024 * MIB
// A piece of a byte may cost so many more.
const MOST_OF_PIECES = 200 * 500_000

// A machine may be too busy to take a body in the usual time; and Node answers hundreds of pipelined requests in one turn,
// half a second of a processor, which looks like a thread that hangs where it gets a tenth of one.
const PATIENT = ['--request-timeout', '60000', '--watchdog-timeout', '60000']

const residentBytes = (pid: number) =>
  Number(/^VmRSS:\s+(\d+)/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))![1]) * 1_024

test.each(SERVERS)('a process holds no more for its clients than it may, served by %s', async (server) => {
  const service = spawnKv(temporaryFolder(), {
    settings: ['--server', server, '--client-memory-limit', String(BUDGET), ...PATIENT],
  })
  const [url, pid] = [await service.url, await service.pid]
  const port = Number(new URL(url).port)
  let most = 0
  const watch = setInterval(() => (most = Math.max(most, residentBytes(pid))), 20)
  onTestFinished(() => clearInterval(watch))

  const held = async () => {
    const text = await (await fetch(`${url}/metrics`)).text()
    return Number(/^client_memory_bytes (\d+)$/m.exec(text)![1])
  }
  const put = (id: string, body: Buffer) => fetch(`${url}/v0/entity?id=${id}`, { method: 'PUT', body: body as never })
  const big = Buffer.alloc(8 * MIB, 'x')

  // Uploads of which only the last byte is missing.
  const uploads = await Promise.all(
    Array.from({ length: 40 }, async (_, i) => {
      const client = await rawClient(port)
      client.socket.write(requestText('PUT', `/v0/entity?id=${i}`, { 'content-length': String(big.length) }))
      client.socket.write(big.subarray(1))
      return client
    }),
  )
  const refused: string[] = []
  for (const client of uploads) {
    void client.reply().then(
      ({ status, body, headers }) => void refused.push(`${status} ${JSON.parse(body).code} ${headers['retry-after']}`),
      () => {},
    )
  }
  await until(() => refused.length >= 30)
  expect(new Set(refused)).toEqual(new Set(['503 MEMORY_FULL 1']))
  for (const { socket } of uploads) socket.destroy()
  await until(async () => (await held()) === 0)
  expect((await put('big', big)).status).toBe(201)

  // Replies that nobody reads.
  expect((await put('value', Buffer.alloc(MIB, 'y'))).status).toBe(201)
  const readers: Socket[] = []
  for (let i = 0; i < READERS; i++) {
    const { socket } = await unreadClient(url, requestText('GET', '/v0/entity?id=value').repeat(REPLIES))
    readers.push(socket)
  }
  await until(async () => (await held()) > 0)
  for (let i = 0; i < 20; i++) expect((await fetch(`${url}/v0/entity?id=none`)).status).toBe(404)
  expect(await held()).toBeLessThanOrEqual(BUDGET)
  // They leave room for others.
  expect((await put('big', big)).status).toBe(201)
  for (const socket of readers) socket.destroy()
  await until(async () => (await held()) === 0)

  // Ranges that nobody reads: each would hold two slices of 8 MiB.
  const statuses: string[] = []
  const scanners = Array.from({ length: SCANNERS }, () => {
    const socket = connect(port, '127.0.0.1').on('error', () => {})
    socket.once('data', (head) => {
      socket.pause()
      statuses.push(head.toString('latin1', 9, 12))
    })
    socket.write(requestText('GET', '/v0/entities?start=big&end=c', { accept: 'application/x-ndjson' }))
    return socket
  })
  await until(() => statuses.length === SCANNERS)
  expect(new Set(statuses)).toEqual(new Set(['200', '503']))
  expect(statuses.filter((status) => status === '200').length).toBeLessThanOrEqual(BUDGET / (2 * big.length))
  expect(await held()).toBeLessThanOrEqual(BUDGET)
  for (const socket of scanners) socket.destroy()
  await until(async () => (await held()) === 0)
  expect((await (await fetch(`${url}/v0/entities?start=big&end=c`)).arrayBuffer()).byteLength).toBeGreaterThan(
    big.length,
  )

  expect(most).toBeLessThan(MOST)

  // A body in pieces of a byte.
  const before = (most = residentBytes(pid))
  const client = await rawClient(port)
  client.send(requestText('PUT', '/v0/entity?id=pieces', { 'transfer-encoding': 'chunked' }))
  for (let i = 0; i < 50; i++) client.send('1\r\nx\r\n'.repeat(10_000))
  client.send('0\r\n\r\n')
  expect((await client.reply()).status).toBe(201)
  expect((await (await fetch(`${url}/v0/entity?id=pieces`)).text()).length).toBe(500_000)
  expect(await (await fetch(`${url}/v0/entity?id=big`)).arrayBuffer()).toHaveProperty('byteLength', big.length)
  await until(async () => (await held()) === 0)
  expect(most - before).toBeLessThan(MOST_OF_PIECES)
})

// Without the budget, each stream would hold 8 MiB in addition to the system's buffers: 1,678 MB in total.
const STREAMS = 200
const BATCHES = 150
const MOST_OF_STREAMS = 300 * MIB

test.each(SERVERS)(
  'streams of different ranges that nobody reads take no more than they may, served by %s',
  async (server) => {
    const service = spawnKv(temporaryFolder(), {
      settings: ['--server', server, '--client-memory-limit', String(BUDGET), '--threads', '1', ...PATIENT],
    })
    const [url, pid] = [await service.url, await service.pid]
    const client = createKvClient(url)
    onTestFinished(() => client.close())
    const figure = async (name: string) => {
      const text = await (await fetch(`${url}/metrics`)).text()
      return Number(new RegExp(`^${name} (\\d+)$`, 'm').exec(text)![1])
    }
    const streams = await Promise.all(
      Array.from({ length: STREAMS }, (_, i) =>
        unreadClient(url, requestText('GET', `/v0/watch?start=a${String(i).padStart(3, '0')}`)),
      ),
    )
    await until(async () => (await figure('kv_watchers')) === STREAMS)
    const before = residentBytes(pid)
    let peak = 0
    const sampling = setInterval(() => (peak = Math.max(peak, residentBytes(pid))), 20)
    onTestFinished(() => clearInterval(sampling))

    const seen: string[] = []
    const reading = (async () => {
      for await (const { changes } of client.watch({ start: 'k' })) {
        seen.push(...changes.map(({ id }) => id))
        if (seen.at(-1) === 'kz') return
      }
    })()
    await until(async () => (await figure('kv_watchers')) === STREAMS + 1)
    const value = 'v'.repeat(1_000)
    for (let batch = 0; batch < BATCHES; batch++) {
      await client.batch(Array.from({ length: 100 }, (_, i) => ({ op: 'put' as const, id: `k${batch}.${i}`, value })))
      if (batch % 25 === 0) expect(await figure('client_memory_bytes')).toBeLessThanOrEqual(BUDGET)
    }
    // Other requests still get memory.
    await client.put('a', Buffer.alloc(8 * MIB, 'x'))
    await client.put('kz', '')
    await reading
    expect(seen).toHaveLength(100 * BATCHES + 1)
    expect(new Set(seen).size).toBe(seen.length)
    expect(peak - before).toBeLessThan(MOST_OF_STREAMS)
    for (const { socket } of streams) socket.destroy()
    await until(async () => (await figure('client_memory_bytes')) === 0)
    expect(await figure('kv_watch_unread_bytes')).toBe(0)
  },
)
