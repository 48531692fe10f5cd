import { describe, expect, it } from 'vitest'
import { DAY_MS } from '../src/core/quota-budget.ts'
import { QuotaMeter } from '../src/quota/quota-meter.ts'

describe('the quota meter', () => {
  it('is one count for all threads, and restarts with each day', async () => {
    let now = Date.parse('2026-11-20T12:00:00Z')
    const memory = QuotaMeter.createMemory()
    const [a, b] = [new QuotaMeter(memory, 3, { now: () => now }), new QuotaMeter(memory, 3, { now: () => now })]
    await a.spend()
    await b.spend()
    await a.spend()
    expect(b.used).toBe(3)
    expect(() => b.spend()).toThrow(expect.objectContaining({ code: 'UPSTREAM_UNAVAILABLE' }))
    expect(a.toUsage()).toEqual({ day: '2026-11-20', used: 3 })
    now += DAY_MS
    expect(b.used).toBe(0)
    await b.spend()
    expect(a.used).toBe(1)
    b.refund()
    b.refund()
    expect(a.used).toBe(0)
  })

  it('continues from the usage of the same day, not from that of another day', () => {
    const now = () => Date.parse('2026-11-20T12:00:00Z')
    const meter = new QuotaMeter(QuotaMeter.createMemory(), 10, { now })
    meter.restore({ day: '2026-11-19', used: 9 })
    expect(meter.used).toBe(0)
    meter.restore({ day: '2026-11-20', used: 4 })
    expect(meter.used).toBe(4)
  })
})
