import { setImmediate as turn } from 'node:timers/promises'
import { afterEach, beforeEach, expect, it, vi } from 'vitest'
import { createLogStateMemory } from '../src/log-state.ts'
import { createReplica } from '../src/replica.ts'

// The test controls the delay of reads: on a busy machine, timers are late by more than that.
beforeEach(() => vi.useFakeTimers({ toFake: ['setTimeout'] }))
afterEach(() => vi.useRealTimers())

/** Creates a replica, and records its requests to main. */
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

it('sends one barrier for all reads of a turn, after the last of them', async () => {
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

it('sends another barrier for later reads, one for all that arrive before it is sent', async () => {
  const { barriers, read } = createTestReplica()
  const first = read()
  await turn()
  let isSeen = false
  const second = read().then(() => (isSeen = true))
  // Main has not replied yet: these reads arrive in different turns, and wake it once.
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
