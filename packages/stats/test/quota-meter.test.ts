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

  it('counts units by kind of call, over all threads', () => {
    let now = Date.parse('2026-11-20T12:00:00Z')
    const memory = QuotaMeter.createMemory()
    const [a, b] = [new QuotaMeter(memory, 5, { now: () => now }), new QuotaMeter(memory, 5, { now: () => now })]
    void a.spend()
    void b.spend('channels')
    void a.spend('playlistItems')
    void a.spend('lookups')
    void b.spend('lookups')
    expect(a.used).toBe(5)
    expect(a.usedByKind).toEqual({ videos: 1, channels: 1, playlistItems: 1, lookups: 2 })
    expect(() => a.spend('channels')).toThrow(expect.objectContaining({ code: 'UPSTREAM_UNAVAILABLE' }))
    expect(b.usedByKind.channels).toBe(1)
    b.refund('channels')
    expect(a.usedByKind).toEqual({ videos: 1, channels: 0, playlistItems: 1, lookups: 2 })
    now += DAY_MS
    expect(b.usedByKind).toEqual({ videos: 0, channels: 0, playlistItems: 0, lookups: 0 })
    a.refund('channels')
    expect(b.usedByKind).toEqual({ videos: 0, channels: 0, playlistItems: 0, lookups: 0 })
  })

  it('persists and restores the units of each kind', () => {
    const now = () => Date.parse('2026-11-20T12:00:00Z')
    const create = () => new QuotaMeter(QuotaMeter.createMemory(), 10, { now })
    const [before, after] = [create(), create()]
    void before.spend()
    expect(before.toUsage()).toEqual({ day: '2026-11-20', used: 1 })
    void before.spend('channels')
    expect(before.toUsage()).toEqual({ day: '2026-11-20', used: 2, kinds: { channels: 1 } })
    after.restore(before.toUsage())
    expect(after.usedByKind).toEqual(before.usedByKind)
    // A usage of an earlier version has no kinds.
    after.restore({ day: '2026-11-20', used: 4 })
    expect(after.usedByKind).toEqual({ videos: 4, channels: 0, playlistItems: 0, lookups: 0 })
    after.raise({ day: '2026-11-20', used: 9, kinds: { lookups: 2 } })
    expect(after.usedByKind).toEqual({ videos: 7, channels: 0, playlistItems: 0, lookups: 2 })
    after.raise({ day: '2026-11-20', used: 8, kinds: { lookups: 5 } })
    expect(after.usedByKind.lookups).toBe(2)
  })

  it('does not count a side call whose unit could not be stored', async () => {
    const meter: QuotaMeter = new QuotaMeter(QuotaMeter.createMemory(), 10, {
      async save() {
        meter.refund()
        throw new Error('unavailable')
      },
    })
    for (const kind of ['videos', 'lookups'] as const) await expect(meter.spend(kind)).rejects.toThrow('unavailable')
    expect([meter.used, meter.usedByKind.lookups]).toEqual([0, 0])
  })
})
