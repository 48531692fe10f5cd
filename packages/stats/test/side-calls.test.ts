import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { scaleRuns } from '@influencer-stats/runtime/testing/scale-runs'
import { DAY_MS, type SideQuota } from '../src/core/quota-budget.ts'
import { MIN_SOURCE_INTERVAL_MS, SideCalls } from '../src/refresh/side/side-calls.ts'
import { SideSimulation } from './support/side-simulation.ts'

const MINUTE_MS = 60_000
const HOUR_MS = 60 * MINUTE_MS
/** Midnight Pacific Time. */
const MIDNIGHT_MS = Date.parse('2026-11-20T08:00:00Z')
/** Interval between two refreshes of 10,000 videos, 200 calls, with nine tenths of the budget (ms). */
const VIDEO_INTERVAL_MS = (DAY_MS * 200) / 9_000

const createIds = (prefix: string, count: number) => Array.from({ length: count }, (_, i) => `${prefix}${i}`)

describe('a day of 10,000 videos, 300 channels and 100 playlists', () => {
  it('stays within the budget, reads everything, and every video keeps its share of the refreshes', () => {
    const day = new SideSimulation({ budget: 10_000, start: MIDNIGHT_MS })
    day.addVideos(10_000)
    day.addChannels(createIds('UC', 300))
    day.addSources(createIds('UU', 100))
    // All videos were first read at once, so the second refresh of the last of them takes two intervals.
    day.run(2 * HOUR_MS)
    expect(day.maxVideoGap).toBeLessThan(2.1 * VIDEO_INTERVAL_MS)
    day.maxVideoGap = 0
    day.run(22 * HOUR_MS)
    const { videos, channels, playlistItems } = day.usedByKind
    expect(day.used).toBeLessThanOrEqual(10_000)
    expect(day.used).toBeGreaterThan(9_700)
    expect(channels + playlistItems).toBeLessThanOrEqual(1_000)
    expect(channels).toBe(6)
    expect(playlistItems).toBeGreaterThan(900)
    expect(videos).toBeGreaterThan(8_700)
    expect(day.maxVideoGap).toBeLessThan(1.1 * VIDEO_INTERVAL_MS)
    // The first reads are not paced, so fewer units are left for the others.
    expect(Math.max(...day.getGaps('playlistItems'))).toBeLessThan(1.25 * ((DAY_MS * 100) / 990))
    // Each playlist was first read at once.
    expect(day.getFirstReads('playlistItems').every((at) => at < MINUTE_MS)).toBe(true)
  })

  it('reads 300 channels once a day over several days', () => {
    const days = new SideSimulation({ budget: 10_000, start: MIDNIGHT_MS })
    days.addVideos(500)
    days.addChannels(createIds('UC', 300))
    days.addSources(createIds('UU', 100))
    days.run(4 * DAY_MS)
    expect(Math.max(...days.getGaps('channels'))).toBeLessThan(DAY_MS + HOUR_MS)
    expect(days.countCalls('channels')).toBeLessThanOrEqual(5 * 6)
    for (const used of days.usedByDay.values()) expect(used).toBeLessThanOrEqual(10_000)
  })
})

describe('side calls', () => {
  it('use at most a tenth of the budget, and starve neither videos nor each other: any day', () => {
    const scenario = fc.record({
      budget: fc.integer({ min: 5, max: 12_000 }),
      videos: fc.integer({ min: 1, max: 3_000 }),
      channels: fc.integer({ min: 0, max: 4_000 }),
      sources: fc.integer({ min: 0, max: 400 }),
      begin: fc.integer({ min: 0, max: DAY_MS - 1 }),
      errorRate: fc.constantFrom(0, 0, 0.2),
      added: fc.array(fc.record({ at: fc.integer({ min: 0, max: DAY_MS }), count: fc.integer({ min: 1, max: 60 }) }), {
        maxLength: 4,
      }),
      restarts: fc.array(fc.integer({ min: 0, max: DAY_MS }), { maxLength: 3 }),
      seed: fc.integer(),
    })
    fc.assert(
      fc.property(scenario, ({ budget, videos, channels, sources, begin, errorRate, added, restarts, seed }) => {
        const day = new SideSimulation({ budget, start: MIDNIGHT_MS + begin, errorRate, seed })
        day.addVideos(videos)
        day.addChannels(createIds('UC', channels))
        day.addSources(createIds('UU', sources))
        for (const [i, { at, count }] of added.entries()) {
          day.runAt(at, () => day.addChannels(createIds(`UC${i}-`, count)))
          day.runAt(at, () => day.addSources(createIds(`UU${i}-`, count)))
        }
        for (const at of restarts) day.runAt(at, () => day.restart())
        day.run(DAY_MS)
        for (const used of day.usedByDay.values()) expect(used).toBeLessThanOrEqual(budget)
        for (const used of day.sideUnitsByDay.values()) expect(used).toBeLessThanOrEqual(Math.max(1, budget / 10))
        expect(day.doubleCalls).toBe(0)
      }),
      { numRuns: scaleRuns(8) },
    )
  })

  it('cost the videos nothing if there are none', () => {
    const calls = new SideCalls()
    const quota: SideQuota = { budget: 100, left: 50, untilReset: DAY_MS, usedBySideCalls: 0 }
    expect(calls.getVideoQuota(0, quota)).toBe(quota)
    expect(calls.next(0, quota)).toBeUndefined()
    expect(calls.getWakeAt(0, quota)).toBe(Infinity)
  })

  it('reserve units for the rest of the day, at most a tenth of what is left', () => {
    const calls = new SideCalls()
    calls.addSource('UU', 0)
    const quota: SideQuota = { budget: 10_000, left: 10_000, untilReset: DAY_MS, usedBySideCalls: 0 }
    expect(calls.getVideoQuota(0, quota)).toMatchObject({ budget: 10_000 - 96, left: 10_000 - 96 })
    expect(calls.getVideoQuota(0, { ...quota, left: 100 }).left).toBe(90)
    expect(calls.getVideoQuota(0, { ...quota, usedBySideCalls: 1_000 }).left).toBe(10_000)
  })

  it('have no limit without a budget: a playlist is read every 15 minutes', () => {
    const calls = new SideCalls()
    const quota: SideQuota = { budget: 0, left: Infinity, untilReset: DAY_MS, usedBySideCalls: 0 }
    calls.addSource('UU', 0)
    expect(calls.next(MIN_SOURCE_INTERVAL_MS - 1, quota)).toBeUndefined()
    expect(calls.getWakeAt(1, quota)).toBe(MIN_SOURCE_INTERVAL_MS)
    expect(calls.next(MIN_SOURCE_INTERVAL_MS, quota)).toEqual({ kind: 'playlistItems', ids: ['UU'] })
    expect(calls.getVideoQuota(0, quota)).toBe(quota)
  })

  it('gather new channels into one call, also while more arrive', () => {
    const calls = new SideCalls()
    const quota: SideQuota = { budget: 10_000, left: 10_000, untilReset: DAY_MS, usedBySideCalls: 0 }
    for (let i = 0; i < 60; i++) calls.addChannel(`UC${i}`, i * 100)
    expect(calls.next(4_999, quota)).toBeUndefined()
    expect(calls.getWakeAt(0, quota)).toBe(5_000)
    expect(calls.next(5_000, quota)?.ids).toHaveLength(50)
    expect(calls.next(5_000, quota)).toBeUndefined()
  })

  it('read the next page of a playlist soon, and begin again after a failure', () => {
    const calls = new SideCalls()
    const quota: SideQuota = { budget: 10_000, left: 10_000, untilReset: DAY_MS, usedBySideCalls: 0 }
    calls.addSource('UU')
    calls.recordRead(calls.next(0, quota)!, 0, 'page2')
    const second = calls.next(1, quota)!
    expect(second).toEqual({ kind: 'playlistItems', ids: ['UU'], pageToken: 'page2' })
    calls.recordFailure(second, 1)
    expect(calls.next(2, quota)).toBeUndefined()
    expect(calls.next(DAY_MS, quota)).toEqual({ kind: 'playlistItems', ids: ['UU'] })
  })

  it('forget a playlist that was removed during its call', () => {
    const calls = new SideCalls()
    const quota: SideQuota = { budget: 0, left: Infinity, untilReset: DAY_MS, usedBySideCalls: 0 }
    calls.addSource('UU')
    const call = calls.next(0, quota)!
    calls.removeSource('UU')
    calls.recordRead(call, 0, 'page2')
    expect(calls.size).toEqual({ channels: 0, sources: 0 })
    expect(calls.getWakeAt(1, quota)).toBe(Infinity)
  })
})
