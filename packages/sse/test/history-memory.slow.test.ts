import { measureHeapUsed } from '@influencer-stats/runtime/testing/heap-used'
import { describe, expect, it } from 'vitest'
import { RingHistory } from '../src/history/ring-history.ts'

const MAX_TOTAL_BYTES = 8_388_608

describe('the memory of a history', () => {
  it.each([
    ['values of two bytes to few topics', 100, 'xy', 'topic'],
    ['values of two bytes to many', 5_000, 'xy', 'topic'],
    ['values of a kilobyte', 100, 'x'.repeat(1_000), 'topic'],
    ['values of two bytes a character', 100, 'x'.repeat(500) + '€', 'topic'],
    ['topics with long names', 2_000, 'x', 'x'.repeat(240)],
  ])('stays within its limit: %s', (_what, topics, value, name) => {
    const before = measureHeapUsed()
    const ring = new RingHistory({
      count: 1_000_000,
      bytes: 1e9,
      age: 3_600_000,
      topics: 10_000,
      total: MAX_TOTAL_BYTES,
    })
    const size = value.length
    for (let seq = 1; seq < 150_000; seq += 100) {
      // Events from another thread are copies, so each has separate strings.
      const events = Array.from({ length: 100 }, (_, i) => ({
        seq: seq + i,
        at: Date.now(),
        topic: `${name}${(seq + i) % topics}`,
        value: `${seq}${value}`.slice(-size),
      }))
      ring.append(structuredClone(events))
    }
    const used = measureHeapUsed() - before
    expect(used).toBeLessThan(MAX_TOTAL_BYTES * 1.15)
    // The history uses more than half of its limit.
    expect(used).toBeGreaterThan(MAX_TOTAL_BYTES * 0.5)
    expect(ring.getState().topics.length).toBeGreaterThan(0)
  })
})
