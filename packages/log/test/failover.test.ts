import { expect, it, vi } from 'vitest'
import { startFailover } from '../src/jetstream/failover.ts'

it('reconnects repeatedly while the log does not reply and there is a connection', () => {
  vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval', 'performance'] })
  try {
    let moves = 0
    let isUp = true
    let answeredAt = performance.now()
    const stop = startFailover({
      nc: { reconnect: async () => void moves++ },
      isUp: () => isUp,
      getLastResponseAt: () => answeredAt,
    })
    // A leader election takes less.
    vi.advanceTimersByTime(9_000)
    expect(moves).toBe(0)
    vi.advanceTimersByTime(8_000)
    expect(moves).toBeGreaterThanOrEqual(2)
    const before = moves
    isUp = false
    vi.advanceTimersByTime(8_000)
    isUp = true
    answeredAt = performance.now()
    vi.advanceTimersByTime(8_000)
    expect(moves).toBe(before)
    stop()
    vi.advanceTimersByTime(30_000)
    expect(moves).toBe(before)
  } finally {
    vi.useRealTimers()
  }
})
