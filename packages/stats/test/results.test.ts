import fc from 'fast-check'
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { createZonedDays } from '../src/core/history/zoned-days.ts'
import { findSums } from '../src/core/history/results.ts'
import type { Point } from '../src/core/history-points.ts'
import { DAY_MS } from '../src/core/quota-budget.ts'
import { SimulatedCampaign } from './support/simulated-campaign.ts'

const MINUTE_MS = 60_000
const HOUR_MS = 60 * MINUTE_MS
/** Zones whose clocks change in the simulated weeks, some at midnight or by half an hour, and one without changes. */
const ZONES = ['Europe/Berlin', 'America/New_York', 'Asia/Beirut', 'Africa/Cairo', 'Australia/Lord_Howe', 'UTC']

describe('days of a time zone', () => {
  const toIso = (ms: number) => new Date(ms).toISOString()

  it.each([
    ['UTC', '2026-03-29', '2026-03-29T00:00:00.000Z', '2026-03-30T00:00:00.000Z'],
    ['Europe/Berlin', '2026-03-29', '2026-03-28T23:00:00.000Z', '2026-03-29T22:00:00.000Z'],
    ['Europe/Berlin', '2026-10-25', '2026-10-24T22:00:00.000Z', '2026-10-25T23:00:00.000Z'],
    ['America/New_York', '2026-11-01', '2026-11-01T04:00:00.000Z', '2026-11-02T05:00:00.000Z'],
    // The day begins at 1:00, because the clocks skip an hour at midnight.
    ['Africa/Cairo', '2026-04-24', '2026-04-23T22:00:00.000Z', '2026-04-24T21:00:00.000Z'],
    ['Australia/Lord_Howe', '2026-04-05', '2026-04-04T13:00:00.000Z', '2026-04-05T13:30:00.000Z'],
    // The zone skipped this day.
    ['Pacific/Apia', '2011-12-30', '2011-12-30T10:00:00.000Z', '2011-12-30T10:00:00.000Z'],
    ['Pacific/Kiritimati', '2026-01-01', '2025-12-31T10:00:00.000Z', '2026-01-01T10:00:00.000Z'],
    ['Europe/Berlin', '0001-01-01', '0001-01-01T00:00:00.000Z', '0001-01-02T00:00:00.000Z'],
    ['Europe/Berlin', '9999-12-31', '9999-12-31T00:00:00.000Z', '+010000-01-01T00:00:00.000Z'],
  ])('of %s: %s lasts from %s to %s', (zone, day, start, end) => {
    const days = createZonedDays(zone)
    expect([days.findStart(day), days.findEnd(day)].map(toIso)).toEqual([start, end])
  })

  it('follow each other without a gap', () => {
    const times = fc.integer({ min: Date.UTC(1971, 0, 1), max: Date.UTC(2037, 0, 1) })
    fc.assert(
      fc.property(fc.constantFrom(...ZONES), times, (zone, at) => {
        const { getDay, findStart, findEnd } = createZonedDays(zone)
        const day = getDay(at)
        const [start, end] = [findStart(day), findEnd(day)]
        expect([start <= at, at < end]).toEqual([true, true])
        expect([getDay(start), getDay(end - 1)]).toEqual([day, day])
        expect([getDay(start - 1) === day, getDay(end) === day]).toEqual([false, false])
      }),
    )
  })

  it('do not exist in unknown zones', () => {
    for (const zone of ['Europe/Atlantis', 'Mars', '']) expect(() => createZonedDays(zone)).toThrow(RangeError)
  })
})

describe('the sums at a time', () => {
  const point = (at: number, impressions: number, more: Partial<Point> = {}): Point => ({
    at,
    impressions,
    engagements: 0,
    score: 0,
    videos: 1,
    ...more,
  })

  it('state how well they are known', () => {
    const [a, b] = [point(100, 10, { asOf: 90 }), point(300, 50, { asOf: 270, before: [100, 200] })]
    const find = (at: number, before?: Point, next?: Point, until?: number) => {
      const found = findSums(at, { before, next }, until)
      return found && [found.point.at, found.point.impressions, found.quality, found.gap, found.age]
    }
    expect(find(50)).toBeUndefined()
    expect(find(50, undefined, a)).toEqual([100, 10, 'first', 50, 10])
    expect(find(100, a, b)).toEqual([100, 10, 'exact', 0, 10])
    expect(find(200, a, b)).toEqual([200, 10, 'exact', 0, 10])
    expect(find(250, a, b)).toEqual([250, 30, 'interpolated', 100, 30])
    // The point before was deleted, so it is unknown how long the sums of the one that remains were true.
    expect(find(200, a, { ...b, before: [150, 250] })).toEqual([200, 30, 'interpolated', 200, 30])
    expect(find(350, b, undefined, 400)).toEqual([350, 50, 'exact', 0, 30])
    expect(find(450, b, undefined, 400)).toEqual([400, 50, 'last', 50, 30])
    expect(find(450, b)).toEqual([300, 50, 'last', 150, 30])
  })
})

describe('the results of a range', () => {
  const START_MS = Date.parse('2026-03-20T00:00:00Z')
  const STEP_MS = 3 * HOUR_MS
  const VIDEOS = 6

  beforeEach(() => void vi.useFakeTimers({ toFake: ['Date'], now: START_MS }))
  afterEach(() => void vi.useRealTimers())

  interface ResultsPlan {
    readonly days: number
    /** Views per step of each video, in turns of a day. */
    readonly rates: readonly (readonly number[])[]
    readonly outages: readonly { readonly step: number; readonly steps: number }[]
    /** The first three videos are removed, the others are added. */
    readonly edits: readonly { readonly step: number; readonly video: number }[]
    readonly hasThinning: boolean
    readonly zone: string
    readonly day: number
    readonly length: number
    readonly middle: number
  }
  const plan: fc.Arbitrary<ResultsPlan> = fc.record({
    days: fc.integer({ min: 2, max: 45 }),
    rates: fc.array(fc.array(fc.nat(99), { minLength: 1, maxLength: 9 }), { minLength: VIDEOS, maxLength: VIDEOS }),
    outages: fc.array(fc.record({ step: fc.nat(45 * 8), steps: fc.integer({ min: 1, max: 40 }) }), { maxLength: 2 }),
    edits: fc.uniqueArray(fc.record({ step: fc.nat(45 * 8), video: fc.nat(VIDEOS - 1) }), {
      selector: ({ video }) => video,
      maxLength: 5,
    }),
    hasThinning: fc.boolean(),
    zone: fc.constantFrom(...ZONES),
    day: fc.integer({ min: -2, max: 44 }),
    length: fc.integer({ min: 1, max: 40 }),
    middle: fc.double({ min: 0, max: 1, noNaN: true }),
  })

  /** Runs each step of a plan, and sums the true growth of the videos while the campaign had them. */
  async function simulate(campaign: SimulatedCampaign, { days, rates, outages, edits, hasThinning }: ResultsPlan) {
    const views = rates.map(() => 1_000)
    const members = new Set([0, 1, 2])
    const seen = new Map<number, number>()
    /** Times of the first numbers of added videos, and of the removal of videos with numbers. */
    const [added, removed]: [number[], number[]] = [[], []]
    /** Sum of the growth up to each refresh. */
    const grown: { at: number; value: number }[] = []
    await campaign.edit(['v0', 'v1', 'v2'])
    for (let step = 0; step <= days * 8; step++) {
      const at = START_MS + step * STEP_MS
      // An edit comes between two refreshes.
      for (const { video } of edits.filter((one) => one.step === step)) {
        vi.setSystemTime(at - 1)
        if (members.delete(video)) {
          if (seen.delete(video)) removed.push(at - 1)
        } else members.add(video)
        await campaign.edit([...members].map((i) => `v${i}`))
      }
      vi.setSystemTime(at)
      for (const [i, all] of rates.entries()) views[i]! += all[Math.floor(step / 8) % all.length]!
      if (outages.some((one) => step >= one.step && step < one.step + one.steps)) continue
      if (members.size === 0) continue
      let value = grown.at(-1)?.value ?? 0
      for (const i of members) {
        if (seen.has(i)) value += views[i]! - seen.get(i)!
        else if (grown.length > 0) added.push(at)
        seen.set(i, views[i]!)
      }
      await campaign.refresh([...members].map((i) => ({ id: `v${i}`, views: views[i]!, likes: 1, comments: 1 })))
      grown.push({ at, value })
      if (hasThinning && step % 8 === 0) await campaign.tidy()
    }
    return { grown, added, removed }
  }

  it('match a simulation across edits, outages, thinning and changes of the clocks', async () => {
    let [checked, exact] = [0, 0]
    await fc.assert(
      fc.asyncProperty(plan, async (one) => {
        vi.setSystemTime(START_MS)
        const campaign = new SimulatedCampaign({ retention: 5 * DAY_MS, dailyRetention: 60 * DAY_MS })
        const { grown, added, removed } = await simulate(campaign, one)
        const { getDay, findStart, findEnd } = createZonedDays(one.zone)
        const start = findStart(getDay(START_MS + one.day * DAY_MS))
        const end = findEnd(getDay(start + one.length * DAY_MS))
        const results = await campaign.results(start, end)
        const points = await campaign.history()
        const { growth, start: first, end: last } = results
        const now = Date.now()
        expect(results.state).toBe(start > now ? 'upcoming' : end > now ? 'running' : 'ended')
        const isKnown = grown.length > 0 && start <= grown.at(-1)!.at && Math.min(end, now) >= grown[0]!.at
        expect(growth !== undefined).toBe(isKnown)
        if (!growth || !first || !last) return

        /** Times of the stored points around a time. */
        const around = (at: number) => [
          points.findLast((point) => point.at <= at)?.at ?? points[0]!.at,
          points.find((point) => point.at > at)?.at ?? Infinity,
        ]
        const valueAt = (at: number) => grown.findLast((known) => known.at <= at)?.value ?? 0
        const [begin, until] = [first, last].map((one) => Date.parse(one.at)) as [number, number]
        expect(begin).toBe(first.quality === 'first' ? points[0]!.at : start)
        expect(until).toBe(last.quality === 'last' ? until : Math.min(end, now))
        const bounds = (quality: string, at: number) => {
          if (quality === 'exact' || quality === 'last') return [valueAt(at), valueAt(at)]
          return around(at).map(valueAt)
        }
        const [[lowStart, highStart], [lowEnd, highEnd]] = [
          bounds(first.quality, begin),
          bounds(last.quality, until),
        ] as [[number, number], [number, number]]
        expect(growth.impressions).toBeGreaterThanOrEqual(lowEnd - highStart)
        expect(growth.impressions).toBeLessThanOrEqual(highEnd - lowStart)
        exact += [first, last].filter(({ quality }) => quality === 'exact').length
        for (const side of [first, last].filter(({ quality }) => quality === 'interpolated')) {
          const [before, after] = around(Date.parse(side.at)) as [number, number]
          // The reply states whole seconds.
          expect(side.gap * 1_000).toBeLessThanOrEqual(after - before + 500)
        }
        // Edits within the range are stated, and none outside it: at worst by the distance between two points.
        const countIn = (times: readonly number[], from: number, to: number) =>
          times.filter((at) => at > from && at <= to).length
        for (const [times, videos] of [
          [added, growth.added?.videos ?? 0],
          [removed, growth.removed?.videos ?? 0],
        ] as const) {
          const [[startLow, startHigh], [endLow, endHigh]] = [around(begin), around(until)] as [number[], number[]]
          expect(videos).toBeGreaterThanOrEqual(countIn(times, startHigh!, endLow!))
          expect(videos).toBeLessThanOrEqual(countIn(times, startLow!, endHigh!))
        }

        // The growth of two ranges that follow each other is that of both.
        const middle = Math.round(begin + one.middle * (until - begin))
        if (middle > start && middle < until) {
          const [left, right] = [await campaign.results(start, middle), await campaign.results(middle, end)]
          expect(left.growth!.impressions + right.growth!.impressions).toBe(growth.impressions)
        }
        checked++
        await campaign.close()
      }),
      { numRuns: 150 },
    )
    expect(checked).toBeGreaterThan(60)
    expect(exact).toBeGreaterThan(5)
  })
})
