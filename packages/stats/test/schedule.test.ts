import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { DAY } from '../src/core/pace.ts'
import { Schedule } from '../src/core/schedule.ts'
import { Simulation, type Faults } from './support/simulation.ts'
import { videoIds } from './support/fake-youtube.ts'
import { scaleRuns } from '@influencer-stats/runtime/testing/scale-runs'

const SECOND = 1_000
const MINUTE = 60 * SECOND
const HOUR = 60 * MINUTE

/** Midnight Pacific Time. */
const MIDNIGHT = Date.parse('2026-11-20T08:00:00Z')
const healthy: Faults = { outages: [], errorRate: 0, latency: 100, poison: new Set() }

describe('the schedule', () => {
  it('refreshes 10,000 videos with 200 calls a round, no more than the budget in a day', () => {
    const day = new Simulation({ budget: 10_000, start: MIDNIGHT })
    day.add(videoIds(10_000))
    day.run(DAY, healthy)
    expect(day.used).toBeLessThanOrEqual(10_000)
    expect(day.used).toBeGreaterThan(9_700)
    expect(Math.max(...day.calls.map(({ ids }) => ids))).toBe(50)
    const rounds = day.calls.reduce((sum, { ids }) => sum + ids, 0) / 10_000
    expect(day.calls.length / rounds).toBeLessThan(201)
  })

  it('never passes the budget, and keeps every video within a round of its share: a day of faults', () => {
    const fault = fc.record({
      from: fc.integer({ min: 0, max: DAY }),
      for: fc.integer({ min: SECOND, max: 4 * HOUR }),
      kind: fc.constantFrom('failing', 'refused', 'hanging'),
    })
    const scenario = fc.record({
      videos: fc.integer({ min: 1, max: 600 }),
      budget: fc.integer({ min: 5, max: 12_000 }),
      begin: fc.integer({ min: 0, max: DAY - 1 }),
      outages: fc.array(fault, { maxLength: 4 }),
      errorRate: fc.constantFrom(0, 0, 0.05, 0.3),
      latency: fc.integer({ min: 1, max: 4_000 }),
      restarts: fc.array(fc.integer({ min: 0, max: DAY }), { maxLength: 5 }),
      added: fc.array(fc.record({ at: fc.integer({ min: 0, max: DAY }), videos: fc.integer({ min: 1, max: 120 }) }), {
        maxLength: 5,
      }),
      removed: fc.array(fc.integer({ min: 0, max: DAY }), { maxLength: 3 }),
      seed: fc.integer(),
    })
    fc.assert(
      fc.property(scenario, ({ videos, budget, begin, restarts, added, removed, seed, ...faults }) => {
        const day = new Simulation({ budget, start: MIDNIGHT + begin, seed })
        day.add(videoIds(videos))
        for (const at of restarts) day.at(at, () => day.restart())
        for (const { at, videos: more } of added) day.at(at, () => day.add(videoIds(more, at)))
        for (const at of removed) day.at(at, () => day.removeSome())
        day.run(DAY, { ...faults, poison: new Set() })
        // By the day of Pacific Time: the run goes over one midnight.
        for (const used of day.usedByDay.values()) expect(used).toBeLessThanOrEqual(budget)
        expect(day.askedTwice).toBe(0)
        expect(day.late).toEqual([])
      }),
      { numRuns: scaleRuns(8) },
    )
  })

  it('gets to every video, whatever the budget: oldest first', () => {
    const day = new Simulation({ budget: 4, start: MIDNIGHT })
    day.add(videoIds(500))
    day.run(3 * DAY, healthy)
    expect(day.usedByDay.size).toBe(3)
    for (const used of day.usedByDay.values()) expect(used).toBeLessThanOrEqual(4)
    expect(day.unknown).toEqual([])
  })

  it('spends on an outage no more than its share of the day, and on a refused connection nothing', () => {
    for (const kind of ['failing', 'hanging', 'refused'] as const) {
      const day = new Simulation({ budget: 100, start: MIDNIGHT })
      day.add(videoIds(1_000))
      day.run(6 * HOUR, { ...healthy, outages: [{ from: 0, for: DAY, kind }] })
      // A first try for each of 20 calls, then a quarter of the day's share.
      expect(day.used).toBeLessThanOrEqual(kind === 'refused' ? 0 : 20 + 25)
      expect(day.calls.length).toBeGreaterThan(20)
    }
  })

  it('is over an outage within a round, and not with a call for each video', () => {
    const day = new Simulation({ budget: 10_000, start: MIDNIGHT })
    day.add(videoIds(2_000))
    day.run(4 * HOUR, { ...healthy, outages: [{ from: HOUR, for: 2 * HOUR, kind: 'failing' }] })
    const after = day.calls.filter(({ at }) => at > 3 * HOUR)
    const interval = (DAY * 40) / 10_000
    const renewed = after.filter(({ at }) => at < 3 * HOUR + 2 * interval)
    expect(renewed.reduce((sum, { ids }) => sum + ids, 0)).toBeGreaterThanOrEqual(2_000)
    expect(day.late).toEqual([])
  })

  it('keeps numbers fresh where one call in ten fails', () => {
    const day = new Simulation({ budget: 10_000, start: MIDNIGHT })
    day.add(videoIds(2_000))
    for (let hour = 1; hour <= 12; hour++) {
      day.run(HOUR, { ...healthy, errorRate: 0.1 })
      expect(day.oldest(videoIds(2_000))).toBeLessThan((3 * (DAY * 40)) / 10_000)
    }
  })

  it('finds the one video that makes its calls fail; its neighbours are refreshed like all others', () => {
    for (const videos of [2, 50, 500]) {
      const day = new Simulation({ budget: 0, start: MIDNIGHT })
      const ids = videoIds(videos)
      day.add(ids)
      day.run(HOUR, { ...healthy, poison: new Set([ids[1]!]) })
      expect(day.unknown).toEqual([ids[1]])
      expect(day.oldest(ids.filter((id) => id !== ids[1]))).toBeLessThan(30 * SECOND)
      const failed = day.calls.filter(({ ok }) => !ok).length
      expect(failed).toBeLessThan(HOUR / (10 * SECOND) + 20)
    }
  })

  it('costs nothing in a crash loop, and a restart goes on where it was', () => {
    const day = new Simulation({ budget: 10_000, start: MIDNIGHT })
    day.add(videoIds(1_000))
    day.run(HOUR, healthy)
    const before = day.calls.length
    for (let i = 0; i < 200; i++) {
      day.restart()
      day.run(5 * SECOND, healthy)
    }
    expect(day.calls.length).toBe(before)
    day.run(HOUR, healthy)
    expect(day.late).toEqual([])
  })

  it('asks for nothing before its time, and takes along what will be due soon', () => {
    const allowance = { budget: 0, left: Infinity, untilReset: DAY }
    const schedule = new Schedule({ idsPerCall: 50, connections: 4, fastest: 100 }, 0)
    schedule.known('old', 0)
    schedule.known('soon', 40)
    schedule.known('young', 60)
    expect(schedule.next(99, allowance)).toBeUndefined()
    expect(schedule.wakeAt(99, allowance)).toBe(100)
    expect(schedule.next(100, allowance)).toMatchObject({ ids: ['old', 'soon'] })
  })

  it('goes on after a restart at the pace of the calls before it', () => {
    const allowance = { budget: 100, left: 100, untilReset: DAY }
    const schedule = new Schedule({ idsPerCall: 1, connections: 4, fastest: 10 }, 700 * SECOND)
    schedule.known('old', -DAY)
    schedule.known('young', 0)
    expect(schedule.next(863 * SECOND, allowance)).toBeUndefined()
    expect(schedule.wakeAt(863 * SECOND, allowance)).toBe(864 * SECOND)
    expect(schedule.next(864 * SECOND, allowance)).toMatchObject({ ids: ['old'] })
  })

  it('wakes when the first of what has failed may be tried again, and not before', () => {
    const allowance = { budget: 0, left: Infinity, untilReset: DAY }
    const schedule = new Schedule({ idsPerCall: 1, connections: 8, fastest: 10 }, 0)
    schedule.want(['a', 'b'], 0)
    const calls = [schedule.next(50, allowance)!, schedule.next(50, allowance)!]
    const fault = { kind: 'server', detail: '', remedy: '' } as const
    schedule.failed(calls[0]!, 60, allowance, fault)
    schedule.failed(calls[1]!, 5_060, allowance, fault)
    const wake = schedule.wakeAt(60, allowance)
    expect(wake).toBeGreaterThan(60)
    expect(schedule.next(wake - 1, allowance)).toBeUndefined()
    expect(schedule.next(wake, allowance)).toMatchObject({ ids: ['a'] })
    expect(schedule.wakeAt(wake, allowance)).toBeGreaterThan(5_060)
  })

  it('takes no numbers of an id that was forgotten and wanted anew while it was asked for', () => {
    const allowance = { budget: 0, left: Infinity, untilReset: DAY }
    const schedule = new Schedule({ idsPerCall: 50, connections: 16, fastest: 10 }, 0)
    schedule.want(['a', 'gone'], 0)
    const call = schedule.next(50, allowance)!
    for (const id of call.ids) schedule.forget(id)
    schedule.want(['a'], 60)
    schedule.succeeded(call, 50, 70)
    expect(schedule.calls).toBe(1)
    expect(schedule.next(110, allowance)).toMatchObject({ ids: ['a'], lane: 'first' })
    expect(schedule.next(9_000, allowance)).toBeUndefined()
  })

  it('gives a first fetch a call at once, while refreshes fill their lane', () => {
    const schedule = new Schedule({ idsPerCall: 1, connections: 4, fastest: 10 }, 0)
    const allowance = { budget: 0, left: Infinity, untilReset: DAY }
    for (const id of videoIds(100)) schedule.known(id, 0)
    const take = (now: number) => {
      let taken = 0
      while (schedule.next(now, allowance)) taken++
      return taken
    }
    expect(take(20)).toBe(3)
    schedule.want(['new'], 20)
    expect(take(20)).toBe(0)
    schedule.urge(['new'])
    expect(schedule.next(20, allowance)).toMatchObject({ ids: ['new'], lane: 'first' })
  })

  it('asks once for what is gathered and urged, and not for what was forgotten meanwhile', () => {
    const schedule = new Schedule({ idsPerCall: 50, connections: 4, fastest: 10 }, 0)
    const allowance = { budget: 0, left: Infinity, untilReset: DAY }
    schedule.want(['a', 'b', 'gone'], 0)
    schedule.urge(['a'])
    schedule.forget('gone')
    expect(schedule.next(0, allowance)!.ids.toSorted()).toEqual(['a', 'b'])
  })

  it('gathers what comes one by one into a call', () => {
    const day = new Simulation({ budget: 10_000, start: MIDNIGHT })
    videoIds(300).forEach((id, i) => day.at(i * 2, () => day.add([id])))
    day.run(MINUTE, healthy)
    expect(day.unknown).toEqual([])
    expect(day.used).toBeLessThan(30)
  })
})
