import { setImmediate as turn } from 'node:timers/promises'
import { afterEach, beforeEach, expect, it, vi } from 'vitest'
import { createLogStateMemory } from '../src/log-state.ts'
import { createReplica } from '../src/replica.ts'

// How long a read is held is told by the test: a busy machine is late by more than that.
beforeEach(() => vi.useFakeTimers({ toFake: ['setTimeout'] }))
afterEach(() => vi.useRealTimers())

/** A replica, and what it has asked main for. */
function createTestReplica() {
  const barriers: { waiters: number; pass(): void }[] = []
  const replica = createReplica({
    state: createLogStateMemory(),
    waitForSequence: async () => {},
    barrier(waiters) {
      const { promise, resolve } = Promise.withResolvers<void>()
      barriers.push({ waiters, pass: resolve })
      return promise
    },
  })
  const read = () => replica.waitForConsistency({ linearizable: true })
  return { barriers, read }
}

it('asks once for all reads of a turn, after the last of them has come', async () => {
  const { barriers, read } = createTestReplica()
  const first = [read(), read()]
  await new Promise(process.nextTick)
  expect(barriers).toEqual([])
  first.push(read())
  await turn()
  expect(barriers).toMatchObject([{ waiters: 3 }])
  barriers[0]!.pass()
  await Promise.all(first)
})

it('asks anew for a read that comes after it has asked, once for all that come until main hears of them', async () => {
  const { barriers, read } = createTestReplica()
  const first = read()
  await turn()
  let isSeen = false
  const second = read().then(() => (isSeen = true))
  // Main has not answered yet: they come in turns of their own, and wake it once.
  await turn()
  const third = read()
  barriers[0]!.pass()
  await first
  await turn()
  expect(isSeen).toBe(false)
  expect(barriers).toHaveLength(1)
  await vi.runAllTimersAsync()
  expect(barriers).toMatchObject([{ waiters: 1 }, { waiters: 2 }])
  barriers[1]!.pass()
  await Promise.all([second, third])
})
