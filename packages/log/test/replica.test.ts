import { setImmediate as turn } from 'node:timers/promises'
import { afterEach, beforeEach, expect, it, vi } from 'vitest'
import { logStateMemory } from '../src/log-state.ts'
import { createReplica } from '../src/replica.ts'

// How long a read is held is told by the test: a busy machine is late by more than that.
beforeEach(() => vi.useFakeTimers({ toFake: ['setTimeout'] }))
afterEach(() => vi.useRealTimers())

/** A replica, and what it has asked main for. */
function asking() {
  const asked: { waiting: number; pass(): void }[] = []
  const replica = createReplica({
    state: logStateMemory(),
    reached: async () => {},
    barrier(waiting) {
      const { promise, resolve } = Promise.withResolvers<void>()
      asked.push({ waiting, pass: resolve })
      return promise
    },
  })
  const read = () => replica.seen({ linearizable: true })
  return { asked, read }
}

it('asks once for all reads of a turn, after the last of them has come', async () => {
  const { asked, read } = asking()
  const first = [read(), read()]
  await new Promise(process.nextTick)
  expect(asked).toEqual([])
  first.push(read())
  await turn()
  expect(asked).toMatchObject([{ waiting: 3 }])
  asked[0]!.pass()
  await Promise.all(first)
})

it('asks anew for a read that comes after it has asked, once for all that come until main hears of them', async () => {
  const { asked, read } = asking()
  const first = read()
  await turn()
  let isSeen = false
  const second = read().then(() => (isSeen = true))
  // Main has not answered yet: they come in turns of their own, and wake it once.
  await turn()
  const third = read()
  asked[0]!.pass()
  await first
  await turn()
  expect(isSeen).toBe(false)
  expect(asked).toHaveLength(1)
  await vi.runAllTimersAsync()
  expect(asked).toMatchObject([{ waiting: 1 }, { waiting: 2 }])
  asked[1]!.pass()
  await Promise.all([second, third])
})
