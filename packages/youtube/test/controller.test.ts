import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { createController } from '../src/controller.ts'
import { Meter } from '../src/meter.ts'

const TIME_BEFORE_MIDNIGHT = Date.UTC(2026, 0, 2, 7, 58)
const FIVE_MINUTES_MS = 300_000

describe('the quota of a day', () => {
  beforeEach(() => void vi.useFakeTimers({ now: TIME_BEFORE_MIDNIGHT }))
  afterEach(() => void vi.useRealTimers())

  const start = (quota: number) => {
    const meter = new Meter()
    return { meter, controller: createController({ meter, quota, broadcast: async () => {} }) }
  }

  it('is refilled after midnight Pacific Time', () => {
    const { meter, controller } = start(1)
    expect([meter.takeQuota(), meter.takeQuota()]).toEqual([true, false])
    vi.advanceTimersByTime(60_000)
    expect(meter.quotaLeft).toBe(0)
    vi.advanceTimersByTime(FIVE_MINUTES_MS)
    expect(meter.quotaLeft).toBe(1)
    controller.close()
  })

  it('stays used up if a fault set it', async () => {
    const { meter, controller } = start(1)
    await controller.handlers.setFaults({ quotaLeft: 0 })
    vi.advanceTimersByTime(FIVE_MINUTES_MS)
    expect(meter.quotaLeft).toBe(0)
    controller.close()
  })

  it('has no limit by default', () => {
    const { meter, controller } = start(0)
    expect(meter.quotaLeft).toBeUndefined()
    expect(meter.takeQuota()).toBe(true)
    controller.close()
  })
})
