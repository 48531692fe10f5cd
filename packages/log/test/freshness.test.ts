import { steadyNow } from '@influencer-stats/runtime/steady-clock'
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { Freshness } from '../src/jetstream/freshness.ts'
import { logStateMemory, writeLogState } from '../src/log-state.ts'
import { createReplica } from '../src/replica.ts'

it('is as of when the log ended where the view is now, and no later', () => {
  let now = 100
  const freshness = new Freshness(() => now)
  expect(freshness.asOf).toBe(100)
  now = 200
  freshness.heard(5, 5)
  expect(freshness.asOf).toBe(200)
  // It falls behind, and what comes is not heard of as having been applied.
  now = 300
  freshness.heard(7, 5)
  now = 400
  freshness.heard(9, 6)
  freshness.advanced(6)
  expect(freshness.asOf).toBe(200)
  now = 500
  freshness.advanced(7)
  expect(freshness.asOf).toBe(300)
  freshness.advanced(9)
  expect(freshness.asOf).toBe(300)
  freshness.heard(9, 9)
  expect(freshness.asOf).toBe(500)
})

it('takes a view that goes on while more comes for what it is: some moments behind', () => {
  let now = 0
  const freshness = new Freshness(() => now)
  for (let end = 10; end < 1_000; end++) {
    now = end
    freshness.heard(end, end - 10)
    freshness.advanced(end - 9)
    expect(now - freshness.asOf).toBeLessThanOrEqual(20)
  }
})

describe('a clock that is set back by an hour', () => {
  beforeEach(() => void vi.useFakeTimers({ toFake: ['Date'] }))
  afterEach(() => void vi.useRealTimers())
  const setBack = () => void vi.setSystemTime(Date.now() - 3_600_000)

  it('makes no view younger', () => {
    const state = logStateMemory()
    writeLogState(state, { applied: 1, known: 1, contact: steadyNow() - 10_000, clockOffsets: { min: 0, max: 0 } })
    const replica = createReplica({ state, reached: async () => {}, barrier: async () => {} })
    setBack()
    expect(replica.age).toBe(10)
  })

  it('lets a view that has all of the log say so', () => {
    const freshness = new Freshness()
    setBack()
    const before = steadyNow()
    freshness.heard(5, 5)
    expect(freshness.asOf).toBeGreaterThanOrEqual(before)
  })
})
