import { readFileSync } from 'node:fs'
import { connect, type Socket } from 'node:net'
import { expect, onTestFinished, test } from 'vitest'
import { createKvClient } from '../src/client.ts'
import { SERVERS } from '@influencer-stats/runtime/settings'
import { openRawClient, formatRequest, openUnreadClient } from '@influencer-stats/runtime/testing/raw-client'
import { createTemporaryFolder } from '@influencer-stats/runtime/testing/temporary-folder'
import { waitUntil } from '@influencer-stats/runtime/testing/wait-until'
import { spawnKv } from './support/process.ts'

const MIB = 1_048_576
const BUDGET_BYTES = 64 * MIB
// Unread replies of 1 MiB each, together far more than the process needs for itself: its own 120 MB, and garbage that a
// busy machine has not collected yet. So the bound is far from both sums. Each client holds an eighth of the budget and
// a reply. The rest has room for a put of 8 MiB, which counts as a body and as a pending write, however little of the
// replies the system has accepted yet.
const READER_COUNT = 5
const REPLY_COUNT = 300
// Twice as many as fit in the budget. Each costs a read of 8 MiB, even one that is refused.
const SCANNER_COUNT = 8
const MAX_RESIDENT_BYTES = 1_024 * MIB
// Additional memory for a body in pieces of one byte.
const MAX_PIECES_RESIDENT_BYTES = 200 * 500_000

// A busy machine may not receive a body in the usual time. Node also answers hundreds of pipelined requests in one turn
// of half a second of processor time. With a tenth of a processor, such a thread seems to hang.
const PATIENT_SETTINGS = ['--request-timeout', '60000', '--watchdog-timeout', '60000']

const readResidentBytes = (pid: number) =>
  Number(/^VmRSS:\s+(\d+)/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))![1]) * 1_024

test.each(SERVERS)('a process holds at most its client memory limit, served by %s', async (server) => {
  const service = spawnKv(createTemporaryFolder(), {
    settings: ['--server', server, '--client-memory-limit', String(BUDGET_BYTES), ...PATIENT_SETTINGS],
  })
  const [url, pid] = [await service.url, await service.pid]
  const port = Number(new URL(url).port)
  let peak = 0
  const watch = setInterval(() => (peak = Math.max(peak, readResidentBytes(pid))), 20)
  onTestFinished(() => clearInterval(watch))

  const readHeldBytes = async () => {
    const text = await (await fetch(`${url}/metrics`)).text()
    return Number(/^client_memory_bytes (\d+)$/m.exec(text)![1])
  }
  const put = (id: string, body: Buffer) => fetch(`${url}/v0/entity?id=${id}`, { method: 'PUT', body: body as never })
  const big = Buffer.alloc(8 * MIB, 'x')

  // Uploads without their last byte.
  const uploads = await Promise.all(
    Array.from({ length: 40 }, async (_, i) => {
      const client = await openRawClient(port)
      client.socket.write(formatRequest('PUT', `/v0/entity?id=${i}`, { 'content-length': String(big.length) }))
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
  await waitUntil(() => refused.length >= 30)
  expect(new Set(refused)).toEqual(new Set(['503 MEMORY_FULL 1']))
  for (const { socket } of uploads) socket.destroy()
  await waitUntil(async () => (await readHeldBytes()) === 0)
  expect((await put('big', big)).status).toBe(201)

  // Replies without a reader.
  expect((await put('value', Buffer.alloc(MIB, 'y'))).status).toBe(201)
  const readers: Socket[] = []
  for (let i = 0; i < READER_COUNT; i++) {
    const { socket } = await openUnreadClient(url, formatRequest('GET', '/v0/entity?id=value').repeat(REPLY_COUNT))
    readers.push(socket)
  }
  await waitUntil(async () => (await readHeldBytes()) > 0)
  for (let i = 0; i < 20; i++) expect((await fetch(`${url}/v0/entity?id=none`)).status).toBe(404)
  expect(await readHeldBytes()).toBeLessThanOrEqual(BUDGET_BYTES)
  // The rest of the budget is available to other requests.
  expect((await put('big', big)).status).toBe(201)
  for (const socket of readers) socket.destroy()
  await waitUntil(async () => (await readHeldBytes()) === 0)

  // Ranges without a reader: each would hold two slices of 8 MiB.
  const statuses: string[] = []
  const scanners = Array.from({ length: SCANNER_COUNT }, () => {
    const socket = connect(port, '127.0.0.1').on('error', () => {})
    socket.once('data', (head) => {
      socket.pause()
      statuses.push(head.toString('latin1', 9, 12))
    })
    socket.write(formatRequest('GET', '/v0/entities?start=big&end=c', { accept: 'application/x-ndjson' }))
    return socket
  })
  await waitUntil(() => statuses.length === SCANNER_COUNT)
  expect(new Set(statuses)).toEqual(new Set(['200', '503']))
  expect(statuses.filter((status) => status === '200').length).toBeLessThanOrEqual(BUDGET_BYTES / (2 * big.length))
  expect(await readHeldBytes()).toBeLessThanOrEqual(BUDGET_BYTES)
  for (const socket of scanners) socket.destroy()
  await waitUntil(async () => (await readHeldBytes()) === 0)
  expect((await (await fetch(`${url}/v0/entities?start=big&end=c`)).arrayBuffer()).byteLength).toBeGreaterThan(
    big.length,
  )

  expect(peak).toBeLessThan(MAX_RESIDENT_BYTES)

  // A body in pieces of one byte.
  const before = (peak = readResidentBytes(pid))
  const client = await openRawClient(port)
  client.send(formatRequest('PUT', '/v0/entity?id=pieces', { 'transfer-encoding': 'chunked' }))
  for (let i = 0; i < 50; i++) client.send('1\r\nx\r\n'.repeat(10_000))
  client.send('0\r\n\r\n')
  expect((await client.reply()).status).toBe(201)
  expect((await (await fetch(`${url}/v0/entity?id=pieces`)).text()).length).toBe(500_000)
  expect(await (await fetch(`${url}/v0/entity?id=big`)).arrayBuffer()).toHaveProperty('byteLength', big.length)
  await waitUntil(async () => (await readHeldBytes()) === 0)
  expect(peak - before).toBeLessThan(MAX_PIECES_RESIDENT_BYTES)
})

// Without the budget, each stream would hold 8 MiB in addition to the system's buffers: 1,678 MB in total.
const STREAM_COUNT = 200
const BATCH_COUNT = 150
const MAX_STREAMS_RESIDENT_BYTES = 300 * MIB

test.each(SERVERS)('unread streams of different ranges stay within the limit, served by %s', async (server) => {
  const service = spawnKv(createTemporaryFolder(), {
    settings: [
      '--server',
      server,
      '--client-memory-limit',
      String(BUDGET_BYTES),
      '--threads',
      '1',
      ...PATIENT_SETTINGS,
    ],
  })
  const [url, pid] = [await service.url, await service.pid]
  const client = createKvClient(url)
  onTestFinished(() => client.close())
  const readMetric = async (name: string) => {
    const text = await (await fetch(`${url}/metrics`)).text()
    return Number(new RegExp(`^${name} (\\d+)$`, 'm').exec(text)![1])
  }
  const streams = await Promise.all(
    Array.from({ length: STREAM_COUNT }, (_, i) =>
      openUnreadClient(url, formatRequest('GET', `/v0/watch?start=a${String(i).padStart(3, '0')}`)),
    ),
  )
  await waitUntil(async () => (await readMetric('kv_watchers')) === STREAM_COUNT)
  const before = readResidentBytes(pid)
  let peak = 0
  const sampling = setInterval(() => (peak = Math.max(peak, readResidentBytes(pid))), 20)
  onTestFinished(() => clearInterval(sampling))

  const seen: string[] = []
  const reading = (async () => {
    for await (const { changes } of client.watch({ start: 'k' })) {
      seen.push(...changes.map(({ id }) => id))
      if (seen.at(-1) === 'kz') return
    }
  })()
  await waitUntil(async () => (await readMetric('kv_watchers')) === STREAM_COUNT + 1)
  const value = 'v'.repeat(1_000)
  for (let batch = 0; batch < BATCH_COUNT; batch++) {
    await client.batch(Array.from({ length: 100 }, (_, i) => ({ op: 'put' as const, id: `k${batch}.${i}`, value })))
    if (batch % 25 === 0) expect(await readMetric('client_memory_bytes')).toBeLessThanOrEqual(BUDGET_BYTES)
  }
  // Other requests still get memory.
  await client.put('a', Buffer.alloc(8 * MIB, 'x'))
  await client.put('kz', '')
  await reading
  expect(seen).toHaveLength(100 * BATCH_COUNT + 1)
  expect(new Set(seen).size).toBe(seen.length)
  expect(peak - before).toBeLessThan(MAX_STREAMS_RESIDENT_BYTES)
  for (const { socket } of streams) socket.destroy()
  await waitUntil(async () => (await readMetric('client_memory_bytes')) === 0)
  expect(await readMetric('kv_watch_unread_bytes')).toBe(0)
})
