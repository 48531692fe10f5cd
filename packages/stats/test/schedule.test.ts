import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { DAY_MS } from '../src/core/quota-budget.ts'
import { Schedule } from '../src/refresh/schedule.ts'
import { Simulation, type SimulatedFaults } from './support/simulation.ts'
import { videoIds } from './support/fake-youtube.ts'
import { scaleRuns } from '@influencer-stats/runtime/testing/scale-runs'

const SECOND_MS = 1_000
const MINUTE_MS = 60 * SECOND_MS
const HOUR_MS = 60 * MINUTE_MS

/** Midnight Pacific Time. */
const MIDNIGHT_MS = Date.parse('2026-11-20T08:00:00Z')
const healthy: SimulatedFaults = { outages: [], errorRate: 0, latency: 100, poison: new Set() }

describe('the schedule', () => {
  it('refreshes 10,000 videos with 200 calls per round, within the budget of a day', () => {
    const day = new Simulation({ budget: 10_000, start: MIDNIGHT_MS })
    day.add(videoIds(10_000))
    day.run(DAY_MS, healthy)
    expect(day.used).toBeLessThanOrEqual(10_000)
    expect(day.used).toBeGreaterThan(9_700)
    expect(Math.max(...day.calls.map(({ ids }) => ids))).toBe(50)
    const rounds = day.calls.reduce((sum, { ids }) => sum + ids, 0) / 10_000
    expect(day.calls.length / rounds).toBeLessThan(201)
  })

  it('never exceeds the budget, and keeps every video within a round of its share: a day of faults', () => {
    const fault = fc.record({
      from: fc.integer({ min: 0, max: DAY_MS }),
      for: fc.integer({ min: SECOND_MS, max: 4 * HOUR_MS }),
      kind: fc.constantFrom('failing', 'refused', 'hanging'),
    })
    const scenario = fc.record({
      videos: fc.integer({ min: 1, max: 600 }),
      budget: fc.integer({ min: 5, max: 12_000 }),
      begin: fc.integer({ min: 0, max: DAY_MS - 1 }),
      outages: fc.array(fault, { maxLength: 4 }),
      errorRate: fc.constantFrom(0, 0, 0.05, 0.3),
      latency: fc.integer({ min: 1, max: 4_000 }),
      restarts: fc.array(fc.integer({ min: 0, max: DAY_MS }), { maxLength: 5 }),
      added: fc.array(
        fc.record({ at: fc.integer({ min: 0, max: DAY_MS }), videos: fc.integer({ min: 1, max: 120 }) }),
        {
          maxLength: 5,
        },
      ),
      removed: fc.array(fc.integer({ min: 0, max: DAY_MS }), { maxLength: 3 }),
      seed: fc.integer(),
    })
    fc.assert(
      fc.property(scenario, ({ videos, budget, begin, restarts, added, removed, seed, ...faults }) => {
        const day = new Simulation({ budget, start: MIDNIGHT_MS + begin, seed })
        day.add(videoIds(videos))
        for (const at of restarts) day.runAt(at, () => day.restart())
        for (const { at, videos: more } of added) day.runAt(at, () => day.add(videoIds(more, at)))
        for (const at of removed) day.runAt(at, () => day.removeSome())
        day.run(DAY_MS, { ...faults, poison: new Set() })
        // Per day of Pacific Time: the run includes one midnight.
        for (const used of day.usedByDay.values()) expect(used).toBeLessThanOrEqual(budget)
        expect(day.repeatedIds).toBe(0)
        expect(day.late).toEqual([])
      }),
      { numRuns: scaleRuns(8) },
    )
  })

  it('refreshes every video at any budget: oldest first', () => {
    const day = new Simulation({ budget: 4, start: MIDNIGHT_MS })
    day.add(videoIds(500))
    day.run(3 * DAY_MS, healthy)
    expect(day.usedByDay.size).toBe(3)
    for (const used of day.usedByDay.values()) expect(used).toBeLessThanOrEqual(4)
    expect(day.unknown).toEqual([])
  })

  it('spends on an outage at most its share of the day, and nothing on a refused connection', () => {
    for (const kind of ['failing', 'hanging', 'refused'] as const) {
      const day = new Simulation({ budget: 100, start: MIDNIGHT_MS })
      day.add(videoIds(1_000))
      day.run(6 * HOUR_MS, { ...healthy, outages: [{ from: 0, for: DAY_MS, kind }] })
      // A first try for each of 20 calls, then a quarter of the day's share.
      expect(day.used).toBeLessThanOrEqual(kind === 'refused' ? 0 : 20 + 25)
      expect(day.calls.length).toBeGreaterThan(20)
    }
  })

  it('recovers from an outage within a round, and not with a call per video', () => {
    const day = new Simulation({ budget: 10_000, start: MIDNIGHT_MS })
    day.add(videoIds(2_000))
    day.run(4 * HOUR_MS, { ...healthy, outages: [{ from: HOUR_MS, for: 2 * HOUR_MS, kind: 'failing' }] })
    const after = day.calls.filter(({ runAt: at }) => at > 3 * HOUR_MS)
    const interval = (DAY_MS * 40) / 10_000
    const renewed = after.filter(({ runAt: at }) => at < 3 * HOUR_MS + 2 * interval)
    expect(renewed.reduce((sum, { ids }) => sum + ids, 0)).toBeGreaterThanOrEqual(2_000)
    expect(day.late).toEqual([])
  })

  it('keeps numbers fresh if one call in ten fails', () => {
    const day = new Simulation({ budget: 10_000, start: MIDNIGHT_MS })
    day.add(videoIds(2_000))
    for (let hour = 1; hour <= 12; hour++) {
      day.run(HOUR_MS, { ...healthy, errorRate: 0.1 })
      expect(day.getOldest(videoIds(2_000))).toBeLessThan((3 * (DAY_MS * 40)) / 10_000)
    }
  })

  it('isolates the video that makes its calls fail, and refreshes the others normally', () => {
    for (const videos of [2, 50, 500]) {
      const day = new Simulation({ budget: 0, start: MIDNIGHT_MS })
      const ids = videoIds(videos)
      day.add(ids)
      day.run(HOUR_MS, { ...healthy, poison: new Set([ids[1]!]) })
      expect(day.unknown).toEqual([ids[1]])
      expect(day.getOldest(ids.filter((id) => id !== ids[1]))).toBeLessThan(30 * SECOND_MS)
      const failed = day.calls.filter(({ ok }) => !ok).length
      expect(failed).toBeLessThan(HOUR_MS / (10 * SECOND_MS) + 20)
    }
  })

  it('costs nothing in a crash loop, and a restart continues the schedule', () => {
    const day = new Simulation({ budget: 10_000, start: MIDNIGHT_MS })
    day.add(videoIds(1_000))
    day.run(HOUR_MS, healthy)
    const before = day.calls.length
    for (let i = 0; i < 200; i++) {
      day.restart()
      day.run(5 * SECOND_MS, healthy)
    }
    expect(day.calls.length).toBe(before)
    day.run(HOUR_MS, healthy)
    expect(day.late).toEqual([])
  })

  it('requests no video early, except those due soon in the same call', () => {
    const remainingQuota = { budget: 0, left: Infinity, untilReset: DAY_MS }
    const schedule = new Schedule({ idsPerCall: 50, connections: 4, minInterval: 100 }, 0)
    schedule.addKnown('old', 0)
    schedule.addKnown('soon', 40)
    schedule.addKnown('young', 60)
    expect(schedule.next(99, remainingQuota)).toBeUndefined()
    expect(schedule.getWakeAt(99, remainingQuota)).toBe(100)
    expect(schedule.next(100, remainingQuota)).toMatchObject({ ids: ['old', 'soon'] })
  })

  it('continues after a restart at the pace of the calls before it', () => {
    const remainingQuota = { budget: 100, left: 100, untilReset: DAY_MS }
    const schedule = new Schedule({ idsPerCall: 1, connections: 4, minInterval: 10 }, 700 * SECOND_MS)
    schedule.addKnown('old', -DAY_MS)
    schedule.addKnown('young', 0)
    expect(schedule.next(863 * SECOND_MS, remainingQuota)).toBeUndefined()
    expect(schedule.getWakeAt(863 * SECOND_MS, remainingQuota)).toBe(864 * SECOND_MS)
    expect(schedule.next(864 * SECOND_MS, remainingQuota)).toMatchObject({ ids: ['old'] })
  })

  it('wakes when the first failed ids may be retried, and not before', () => {
    const remainingQuota = { budget: 0, left: Infinity, untilReset: DAY_MS }
    const schedule = new Schedule({ idsPerCall: 1, connections: 8, minInterval: 10 }, 0)
    schedule.add(['a', 'b'], 0)
    const calls = [schedule.next(50, remainingQuota)!, schedule.next(50, remainingQuota)!]
    const fault = { kind: 'server', detail: '', remedy: '' } as const
    schedule.recordFailure(calls[0]!, 60, remainingQuota, fault)
    schedule.recordFailure(calls[1]!, 5_060, remainingQuota, fault)
    const wake = schedule.getWakeAt(60, remainingQuota)
    expect(wake).toBeGreaterThan(60)
    expect(schedule.next(wake - 1, remainingQuota)).toBeUndefined()
    expect(schedule.next(wake, remainingQuota)).toMatchObject({ ids: ['a'] })
    expect(schedule.getWakeAt(wake, remainingQuota)).toBeGreaterThan(5_060)
  })

  it('ignores numbers of an id that was removed and added again during the call', () => {
    const remainingQuota = { budget: 0, left: Infinity, untilReset: DAY_MS }
    const schedule = new Schedule({ idsPerCall: 50, connections: 16, minInterval: 10 }, 0)
    schedule.add(['a', 'gone'], 0)
    const call = schedule.next(50, remainingQuota)!
    for (const id of call.ids) schedule.remove(id)
    schedule.add(['a'], 60)
    schedule.recordSuccess(call, 50, 70)
    expect(schedule.calls).toBe(1)
    expect(schedule.next(110, remainingQuota)).toMatchObject({ ids: ['a'], queue: 'first' })
    expect(schedule.next(9_000, remainingQuota)).toBeUndefined()
  })

  it('calls at once for first numbers while refreshes fill their queue', () => {
    const schedule = new Schedule({ idsPerCall: 1, connections: 4, minInterval: 10 }, 0)
    const remainingQuota = { budget: 0, left: Infinity, untilReset: DAY_MS }
    for (const id of videoIds(100)) schedule.addKnown(id, 0)
    const take = (now: number) => {
      let taken = 0
      while (schedule.next(now, remainingQuota)) taken++
      return taken
    }
    expect(take(20)).toBe(3)
    schedule.add(['new'], 20)
    expect(take(20)).toBe(0)
    schedule.prioritize(['new'])
    expect(schedule.next(20, remainingQuota)).toMatchObject({ ids: ['new'], queue: 'first' })
  })

  it('requests gathered and prioritized ids once, and no removed ones', () => {
    const schedule = new Schedule({ idsPerCall: 50, connections: 4, minInterval: 10 }, 0)
    const remainingQuota = { budget: 0, left: Infinity, untilReset: DAY_MS }
    schedule.add(['a', 'b', 'gone'], 0)
    schedule.prioritize(['a'])
    schedule.remove('gone')
    expect(schedule.next(0, remainingQuota)!.ids.toSorted()).toEqual(['a', 'b'])
  })

  it('gathers ids that arrive one by one into a call', () => {
    const day = new Simulation({ budget: 10_000, start: MIDNIGHT_MS })
    videoIds(300).forEach((id, i) => day.runAt(i * 2, () => day.add([id])))
    day.run(MINUTE_MS, healthy)
    expect(day.unknown).toEqual([])
    expect(day.used).toBeLessThan(30)
  })
})
