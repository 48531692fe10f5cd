import { steadyNow } from '@influencer-stats/runtime/steady-clock'
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { StalenessTracker } from '../src/jetstream/staleness.ts'
import { createLogStateMemory, writeLogState } from '../src/log-state.ts'
import { createReplica } from '../src/replica.ts'

it('is the time at which the log ended at the applied sequence', () => {
  let now = 100
  const staleness = new StalenessTracker(() => now)
  expect(staleness.lastContactAt).toBe(100)
  now = 200
  staleness.recordEnd(5, 5)
  expect(staleness.lastContactAt).toBe(200)
  // The state machine lags: new entries are reported but not applied.
  now = 300
  staleness.recordEnd(7, 5)
  now = 400
  staleness.recordEnd(9, 6)
  staleness.recordApplied(6)
  expect(staleness.lastContactAt).toBe(200)
  now = 500
  staleness.recordApplied(7)
  expect(staleness.lastContactAt).toBe(300)
  staleness.recordApplied(9)
  expect(staleness.lastContactAt).toBe(300)
  staleness.recordEnd(9, 9)
  expect(staleness.lastContactAt).toBe(500)
})

it('is small for a state machine that applies entries while more arrive', () => {
  let now = 0
  const staleness = new StalenessTracker(() => now)
  for (let end = 10; end < 1_000; end++) {
    now = end
    staleness.recordEnd(end, end - 10)
    staleness.recordApplied(end - 9)
    expect(now - staleness.lastContactAt).toBeLessThanOrEqual(20)
  }
})

describe('a clock that is set back by an hour', () => {
  beforeEach(() => void vi.useFakeTimers({ toFake: ['Date'] }))
  afterEach(() => void vi.useRealTimers())
  const setClockBack = () => void vi.setSystemTime(Date.now() - 3_600_000)

  it('does not reduce the age', () => {
    const state = createLogStateMemory()
    writeLogState(state, {
      applied: 1,
      known: 1,
      lastContactAt: steadyNow() - 10_000,
      clockOffsets: { min: 0, max: 0 },
    })
    const replica = createReplica({ state, waitForSequence: async () => {}, barrier: async () => {} })
    setClockBack()
    expect(replica.age).toBe(10)
  })

  it('does not affect a state machine with all entries', () => {
    const staleness = new StalenessTracker()
    setClockBack()
    const before = steadyNow()
    staleness.recordEnd(5, 5)
    expect(staleness.lastContactAt).toBeGreaterThanOrEqual(before)
  })
})
