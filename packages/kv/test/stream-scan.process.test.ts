import { createBudgetMemory, createBudget, MemoryHold } from '@influencer-stats/runtime/budget'
import { formatRequest, openUnreadClient } from '@influencer-stats/runtime/testing/raw-client'
import { EventEmitter } from 'node:events'
import type { ServerResponse } from 'node:http'
import { PassThrough } from 'node:stream'
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { setImmediate as nextTurn } from 'node:timers/promises'
import { streamScan } from '../src/routes/stream-scan.ts'
import type { KvScan } from '../src/store/store.ts'
import { start } from './support/cluster-nodes.ts'

const TIMEOUT_MS = 1_000

/** A reply to a client that reads on request of the test. */
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

/** A scan with the given number of slices of one entry each. */
function createScan(slices: number, bytes: number) {
  let left = slices
  return {
    isClosed: false,
    next: async () => (left-- > 0 ? ([['k', 'x'.repeat(bytes)]] as const) : []),
    async close() {
      this.isClosed = true
    },
  } satisfies KvScan & { isClosed: boolean }
}

/** Maximum unread bytes of a client. */
const HIGH_WATER_BYTES = 8_388_608

describe('a range', () => {
  beforeEach(() => void vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] }))
  afterEach(() => void vi.useRealTimers())

  function begin(slices: number, bytes: number, next?: KvScan['next']) {
    const reply = new SlowReply()
    const scan = { ...createScan(slices, bytes), ...(next && { next }) }
    const hold = new MemoryHold(createBudget(createBudgetMemory(1), 0, HIGH_WATER_BYTES), new PassThrough())
    const options = { headers: [], timeout: TIMEOUT_MS, hold, begin: () => {} }
    const done = streamScan(scan, 'lines', reply as unknown as ServerResponse, options)
    return { reply, scan, done }
  }

  it('is refused without memory for two slices, and cut off if a later slice gets none', async () => {
    const { reply, scan, done } = begin(1, HIGH_WATER_BYTES / 2)
    await expect(done).rejects.toMatchObject({ code: 'MEMORY_FULL' })
    expect([reply.writes, reply.destroyed, scan.isClosed]).toEqual([0, false, true])

    const growing = begin(2, 1_000)
    growing.scan.next = async () => [['k', 'x'.repeat(HIGH_WATER_BYTES)]] as const
    await nextTurn()
    growing.reply.take()
    await growing.done
    expect([growing.reply.writes, growing.reply.destroyed, growing.scan.isClosed]).toEqual([1, true, true])
  })

  it('is not serialized without memory', async () => {
    const value = Buffer.alloc(HIGH_WATER_BYTES / 2 + 1_024, 'x')
    const written = vi.spyOn(value, 'toString')
    const { scan, done } = begin(1, 1, async () => [['k', value]])
    await expect(done).rejects.toMatchObject({ code: 'MEMORY_FULL' })
    expect([written.mock.calls.length, scan.isClosed]).toEqual([0, true])
  })

  it('continues as long as the client reads each part in time', async () => {
    const { reply, scan, done } = begin(10, 1_000)
    for (let i = 1; i <= 10; i++) {
      await nextTurn()
      expect(reply.writes).toBe(i)
      vi.advanceTimersByTime(TIMEOUT_MS - 1)
      reply.take()
    }
    await done
    expect([reply.ended, reply.destroyed, scan.isClosed]).toEqual([true, false, true])
    expect(vi.getTimerCount()).toBe(0)
  })

  it.each([
    [1_000, 1],
    [600_000, 3],
  ])('is cut if the client does not read a part of %i bytes within %i timeouts', async (bytes, times) => {
    const { reply, scan, done } = begin(10, bytes)
    await nextTurn()
    reply.take()
    await nextTurn()
    vi.advanceTimersByTime(TIMEOUT_MS * times - 1)
    expect(reply.destroyed).toBe(false)
    vi.advanceTimersByTime(1)
    await done
    expect([reply.destroyed, scan.isClosed, reply.writes]).toEqual([true, true, 2])
  })
})

it('cuts a client that requests a range and does not read it', async () => {
  const kv = await start({ sendTimeout: 300 })
  // More than the buffers of the system hold for a connection.
  for (let i = 0; i < 24; i++) await kv.client.put(`k${i}`, Buffer.alloc(1_048_576, 'x'))
  const { cut } = await openUnreadClient(kv.url, formatRequest('GET', '/v0/entities?start=k'))
  expect(await cut()).toBe(true)
})
