import { connect, type Socket } from 'node:net'
import { describe, expect, it, onTestFinished } from 'vitest'
import { waitUntil } from '@influencer-stats/runtime/testing/wait-until'
import { spawnSse, type SpawnedSse } from './support/sse-process.ts'
import type { TestSse } from './support/test-sse.ts'
import { VIA_FASTIFY, createWaitText } from './support/test-stream.ts'

const MB = 1_048_576
const TOPICS = Array.from({ length: 16 }, (_, i) => `topic${i}`)

/** Puts 16 MB of `count` values to 16 topics. Returns the query of a client that missed them. */
async function fill(sse: TestSse, count: number): Promise<string> {
  const start = await sse.put('start', TOPICS[0])
  const value = 'x'.repeat((16 * MB) / count - 50)
  const put = (i: number) =>
    `POST /put?topic=${TOPICS[i % 16]} HTTP/1.1\r\nhost: localhost\r\ncontent-length: ${value.length}\r\n\r\n${value}`
  const socket = connectTo(sse.port).resume()
  for (let i = 0; i < count; i++) socket.write(put(i), 'latin1')
  socket.end()
  await new Promise((resolve) => socket.on('close', resolve))
  return `?lastEventId=${start}&${TOPICS.map((topic) => `topic=${topic}`).join('&')}`
}

function connectTo(port: number): Socket {
  const socket = connect(port, '127.0.0.1').on('error', () => {})
  onTestFinished(() => void socket.destroy())
  return socket
}

/** Maximum memory of the process until a promise resolves (bytes). */
async function measurePeak({ memory }: SpawnedSse, done: Promise<unknown>): Promise<number> {
  let peak = 0
  const timer = setInterval(() => (peak = Math.max(peak, memory())), 10)
  await done
  clearInterval(timer)
  return Math.max(peak, memory())
}

describe('a client that missed 16 MB and reads nothing', () => {
  it.each([
    ['the raw adapter', '/wait'],
    ['Fastify', VIA_FASTIFY.path],
  ])('takes the memory of one slice, also with 40 streams: %s', async (_server, path) => {
    const spawned = await spawnSse({ threads: 1 })
    const { sse, memory } = spawned
    const query = await fill(sse, 256)
    const before = memory()
    for (let i = 0; i < 40; i++) connectTo(sse.port).write(createWaitText(sse.port, query, {}, path))
    const peak = await measurePeak(
      spawned,
      waitUntil(async () => (await sse.readMetric('sse_streams')) === 40),
    )
    expect(peak - before).toBeLessThan(120 * MB)
  })

  it('takes no more memory with 240 requests in one packet, of which only the first is answered', async () => {
    const spawned = await spawnSse({ threads: 1 })
    const { sse, memory } = spawned
    const query = await fill(sse, 8_000)
    const before = memory()
    const socket = connectTo(sse.port)
    socket.write(createWaitText(sse.port, query).repeat(240))
    const opened = waitUntil(async () => (await sse.readMetric('sse_streams')) >= 1).then(() => sse.put('v', TOPICS[0]))
    expect((await measurePeak(spawned, opened)) - before).toBeLessThan(120 * MB)
    expect(await sse.readMetric('sse_streams')).toBe(1)
    socket.destroy()
    await waitUntil(async () => (await sse.readMetric('sse_streams')) === 0)
  })
})
