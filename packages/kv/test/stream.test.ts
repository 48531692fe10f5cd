import { until } from '@influencer-stats/runtime/testing/until'
import { EventEmitter, once } from 'node:events'
import type { ServerResponse } from 'node:http'
import { connect } from 'node:net'
import { afterEach, beforeEach, describe, expect, it, onTestFinished, vi } from 'vitest'
import { turn } from '../src/core/turn.ts'
import { streamScan } from '../src/routes/stream.ts'
import type { Scan } from '../src/store/store.ts'
import { startKv } from './support/kv.ts'

const TIMEOUT = 1_000

/** A reply to a client that takes what it is sent only when it is told to. */
class SlowReply extends EventEmitter {
  headersSent = false
  destroyed = false
  ended = false
  writes = 0
  writableLength = 0

  writeHead(): void {
    this.headersSent = true
  }
  write(text: string): boolean {
    this.writes++
    this.writableLength += text.length
    return false
  }
  end(): void {
    this.ended = true
  }
  destroy(): void {
    this.destroyed = true
    this.emit('close')
  }
  take(): void {
    this.writableLength = 0
    this.emit('drain')
  }
}

/** So many slices of one entry each. */
function scanOf(slices: number, bytes: number) {
  let left = slices
  return {
    isClosed: false,
    next: async () => (left-- > 0 ? ([['k', 'x'.repeat(bytes)]] as const) : []),
    async close() {
      this.isClosed = true
    },
  } satisfies Scan & { isClosed: boolean }
}

describe('a range', () => {
  beforeEach(() => void vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] }))
  afterEach(() => void vi.useRealTimers())

  function start(slices: number, bytes: number) {
    const reply = new SlowReply()
    const scan = scanOf(slices, bytes)
    const options = { headers: [], timeout: TIMEOUT, begin: () => {} }
    const done = streamScan(scan, 'lines', reply as unknown as ServerResponse, options)
    return { reply, scan, done }
  }

  it('goes on as long as the client takes each part in time', async () => {
    const { reply, scan, done } = start(10, 1_000)
    for (let i = 1; i <= 10; i++) {
      await turn()
      expect(reply.writes).toBe(i)
      vi.advanceTimersByTime(TIMEOUT - 1)
      reply.take()
    }
    await done
    expect([reply.ended, reply.destroyed, scan.isClosed]).toEqual([true, false, true])
    expect(vi.getTimerCount()).toBe(0)
  })

  it.each([
    [1_000, 1],
    [600_000, 3],
  ])(
    'of which the client does not take a part of %i bytes within %i times the time-out is cut',
    async (bytes, times) => {
      const { reply, scan, done } = start(10, bytes)
      await turn()
      reply.take()
      await turn()
      vi.advanceTimersByTime(TIMEOUT * times - 1)
      expect(reply.destroyed).toBe(false)
      vi.advanceTimersByTime(1)
      await done
      expect([reply.destroyed, scan.isClosed, reply.writes]).toEqual([true, true, 2])
    },
  )
})

it('a client that asks for a range and does not read it is cut', async () => {
  const kv = await startKv({ sendTimeout: 300 })
  // More than the system keeps for a connection.
  for (let i = 0; i < 24; i++) await kv.client.put(`k${i}`, Buffer.alloc(1_048_576, 'x'))
  const { hostname, port } = new URL(kv.url)
  const socket = connect(Number(port), hostname)
  onTestFinished(() => void socket.destroy())
  await once(socket, 'connect')
  let isCut = false
  socket.on('error', () => (isCut = true)).pause()
  socket.write('GET /v0/entities?start=k HTTP/1.1\r\nHost: localhost\r\n\r\n')
  // What is sent on a connection that was cut is answered with a reset.
  await until(() => isCut || (socket.write('\r\n'), false), 15_000)
  await kv.stop()
})
