import { connect, type Socket } from 'node:net'
import { describe, expect, it, onTestFinished } from 'vitest'
import { waitUntil } from '@influencer-stats/runtime/testing/wait-until'
import { StreamSlots, SlotTable } from '../src/hub/stream-slots.ts'

import { findFreePort } from '@influencer-stats/runtime/testing/free-port'
import { startSse } from './support/test-sse.ts'
import { createWaitText } from './support/test-stream.ts'

describe('the slots of streams', () => {
  it('are limited over all threads together, in any order of requests', () => {
    const table = new SlotTable()
    const threads = [1, 2, 3].map(() => new StreamSlots(table.share(), 5))
    expect([0, 1, 2, 0, 1, 2, 0].map((i) => threads[i]!.tryAcquire())).toEqual([
      true,
      true,
      true,
      true,
      true,
      false,
      false,
    ])
    expect(threads[2]!.isFull).toBe(true)
    threads[1]!.release()
    expect(threads[0]!.isFull).toBe(false)
    expect(threads[2]!.tryAcquire()).toBe(true)
  })

  it('are released when their thread exits', () => {
    const table = new SlotTable()
    for (let lives = 0; lives < 200; lives++) {
      const [first, second] = [table.share(), table.share()]
      const [dying, living] = [new StreamSlots(first, 3), new StreamSlots(second, 3)]
      expect([dying.tryAcquire(), dying.tryAcquire(), living.tryAcquire(), living.tryAcquire()]).toEqual([
        true,
        true,
        true,
        false,
      ])
      table.release(first)
      expect([living.tryAcquire(), living.tryAcquire(), living.tryAcquire()]).toEqual([true, true, false])
      table.release(second)
    }
  })

  it('are counted correctly if streams open and close while threads start', async () => {
    const port = await findFreePort()
    const sockets = new Set<Socket>()
    onTestFinished(() => sockets.forEach((socket) => socket.destroy()))
    const open = () => {
      const socket = connect(port, '127.0.0.1').on('error', () => {})
      socket.on('close', () => sockets.delete(socket))
      socket.on('data', (data) => data.includes(' 503 ') && socket.destroy())
      sockets.add(socket)
      socket.write(createWaitText(port))
    }
    let isReady = false
    const starting = startSse({ port, threads: 3, maxStreams: 300, maxStreamsPerAddress: 1_000 })
    void starting.finally(() => (isReady = true))
    // Streams open and close during the whole start, also at the moments in which a thread begins to serve.
    while (!isReady) {
      while (sockets.size < 400) open()
      await new Promise((resolve) => setTimeout(resolve, 1))
      for (const socket of [...sockets].slice(0, 40)) socket.destroy()
    }
    const sse = await starting
    for (const socket of sockets) socket.destroy()
    await waitUntil(async () => (await sse.readMetric('sse_streams')) === 0)
    for (let i = 0; i < 500; i++) open()
    await waitUntil(() => sockets.size <= 300)
    // A scrape does not wait long for a busy thread, so a later one may show fewer.
    const streams = await waitUntil(async () => {
      const count = await sse.readMetric('sse_streams')
      return count >= 300 && count
    })
    expect(streams).toBe(300)
  })
})
