import fc from 'fast-check'
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { PERIODS_MS, periods } from '../src/core/growth.ts'
import type { VideoNumbers } from '../src/core/video-numbers.ts'
import { DAY_MS } from '../src/core/quota-budget.ts'
import { SimulatedCampaign } from './support/simulated-campaign.ts'

const MINUTE_MS = 60_000
const HOUR_MS = 60 * MINUTE_MS
const START = Date.parse('2026-03-01T00:00:00Z')

const toTime = (time: number) => new Date(time).toISOString()

const getViews = (id: string, views: number): VideoNumbers => ({ id, views, likes: 10, comments: 5 })

describe('the growth of a collection', () => {
  let campaign: SimulatedCampaign
  const at = (time: number) => vi.setSystemTime(START + time)

  beforeEach(() => {
    vi.useFakeTimers({ toFake: ['Date'], now: START })
    campaign = new SimulatedCampaign()
  })
  afterEach(async () => {
    await campaign.close()
    vi.useRealTimers()
  })

  /** Refreshes every half an hour; `views` of the hours since the start. */
  async function runPlan(from: number, to: number, views: (hours: number) => number, ids: readonly string[] = ['a']) {
    for (let time = from; time <= to; time += HOUR_MS / 2) {
      at(time)
      await campaign.refresh(ids.map((id) => getViews(id, views(time / HOUR_MS))))
    }
  }

  it('of a window covers the window, not a longer outage', async () => {
    await campaign.edit(['a'])
    await runPlan(0, 8 * DAY_MS, (hours) => 1_000 + 50 * Math.floor(hours))
    await runPlan(11 * DAY_MS, 11 * DAY_MS, () => 14_500)
    const afterOutage = await campaign.change()
    expect(afterOutage['24h']).toMatchObject({ impressions: 0, since: toTime(START + 11 * DAY_MS) })
    expect(afterOutage['7d']).toMatchObject({ impressions: 14_500 - (1_000 + 50 * 96), isWhole: true })
    await runPlan(11 * DAY_MS, 11.5 * DAY_MS, (hours) => 14_500 + 10 * (hours - 264))
    expect((await campaign.change())['24h']).toMatchObject({ impressions: 120, since: toTime(START + 11 * DAY_MS) })
    await runPlan(11.5 * DAY_MS, 12.5 * DAY_MS, (hours) => 14_500 + 10 * (hours - 264))
    expect((await campaign.change())['24h']).toMatchObject({ impressions: 240, isWhole: true })
  })

  it('of a window covers the window if some videos could not be refreshed', async () => {
    await campaign.edit(['a', 'b'])
    await runPlan(0, 8 * DAY_MS, (hours) => hours, ['a', 'b'])
    await runPlan(8 * DAY_MS, 11 * DAY_MS, (hours) => hours, ['a'])
    await runPlan(11 * DAY_MS, 11 * DAY_MS + HOUR_MS / 2, (hours) => (hours === 264 ? 192 : 10_000), ['b'])
    await runPlan(11 * DAY_MS + HOUR_MS / 2, 11 * DAY_MS + HOUR_MS / 2, (hours) => hours, ['a'])
    const { impressions, since } = (await campaign.change())['24h']
    expect(impressions).toBeLessThanOrEqual(24)
    expect(Date.parse(since)).toBeGreaterThanOrEqual(START + 10 * DAY_MS)
  })

  it('is exact at the beginning of the window: interpolated between near points', async () => {
    await campaign.edit(['a'])
    await runPlan(0, 2 * DAY_MS, (hours) => 100 * hours)
    at(2 * DAY_MS + 20 * MINUTE_MS)
    await campaign.refresh([getViews('a', 4_900)])
    const { impressions, since, until: end, isWhole } = (await campaign.change())['24h']
    expect({ since, end, isWhole }).toEqual({
      since: toTime(START + DAY_MS + 20 * MINUTE_MS),
      end: toTime(START + 2 * DAY_MS + 20 * MINUTE_MS),
      isWhole: true,
    })
    expect(impressions).toBe(4_900 - 2_433)
  })

  it('covers sums that have not changed for days', async () => {
    await campaign.edit(['a'])
    await runPlan(0, DAY_MS, (hours) => hours)
    await runPlan(DAY_MS, 6 * DAY_MS, () => 24)
    expect((await campaign.change())['24h']).toMatchObject({
      impressions: 0,
      isWhole: true,
      until: toTime(START + 6 * DAY_MS),
    })
    await runPlan(6 * DAY_MS, 6 * DAY_MS + HOUR_MS, () => 30)
    expect((await campaign.change())['24h']).toMatchObject({ impressions: 6, isWhole: true })
  })

  it('reports that the campaign is younger than the window', async () => {
    await campaign.edit(['a'])
    await runPlan(0, 3 * DAY_MS, (hours) => hours)
    const change = await campaign.change()
    expect(change['24h']).not.toHaveProperty('young')
    expect(change['7d']).toMatchObject({ impressions: 72, since: toTime(START), young: true })
  })

  it('excludes added and removed videos', async () => {
    await campaign.edit(['a', 'b'])
    await runPlan(0, 2 * DAY_MS, () => 1_000, ['a', 'b'])
    at(2 * DAY_MS + 10 * MINUTE_MS)
    await campaign.edit(['a'])
    const removed = { videos: 1, impressions: 1_000, engagements: 15, score: 25 }
    expect((await campaign.change())['24h']).toMatchObject({ impressions: 0, engagements: 0, score: 0, removed })
    await campaign.edit(['a', 'new'])
    await runPlan(2 * DAY_MS + HOUR_MS, 2 * DAY_MS + HOUR_MS, () => 1_200, ['a', 'new'])
    const added = { videos: 1, impressions: 1_200, engagements: 15, score: 25 }
    expect((await campaign.change())['24h']).toMatchObject({ impressions: 200, engagements: 0, removed, added })
    await runPlan(2 * DAY_MS + HOUR_MS, 4 * DAY_MS, () => 1_200, ['a', 'new'])
    const later = (await campaign.change())['24h']
    expect(later).toMatchObject({ impressions: 0 })
    expect(later).not.toHaveProperty('added')
    expect(later).not.toHaveProperty('removed')
  })

  it('excludes a count that is stated for the first time, or returns after days', async () => {
    await campaign.edit(['a'])
    const hidden = { id: 'a', views: 7, hidden: ['likes', 'comments'] as const, hiddenSince: START }
    for (let time = 0; time <= 2 * DAY_MS; time += HOUR_MS / 2) {
      at(time)
      await campaign.refresh([hidden])
    }
    at(2 * DAY_MS + HOUR_MS / 2)
    await campaign.refresh([{ id: 'a', views: 7, likes: 5_000, comments: 30 }])
    const added = { videos: 0, impressions: 0, engagements: 5_030, score: 10_030 }
    expect((await campaign.change())['24h']).toMatchObject({ impressions: 0, engagements: 0, score: 0, added })
    at(2 * DAY_MS + HOUR_MS)
    const again = { ...hidden, likes: 5_000, comments: 30, hiddenSince: START + 2 * DAY_MS + HOUR_MS }
    await campaign.refresh([again])
    for (let time = 2 * DAY_MS + HOUR_MS; time <= 5 * DAY_MS; time += HOUR_MS / 2) {
      at(time)
      await campaign.refresh([again])
    }
    at(5 * DAY_MS + HOUR_MS / 2)
    await campaign.refresh([{ id: 'a', views: 7, likes: 9_000, comments: 30 }])
    expect((await campaign.change())['24h']).toMatchObject({ engagements: 0, score: 0, added: { engagements: 4_000 } })
  })

  interface GrowthPlan {
    readonly days: number
    /** Views per minute of each video, in turns of six hours. */
    readonly rates: readonly (readonly number[])[]
    readonly outages: readonly { readonly hour: number; readonly hours: number; readonly videos?: number | undefined }[]
    readonly edits: readonly { readonly minute: number; readonly video: number }[]
    readonly prunes: boolean
  }
  const VIDEOS = 6
  const plan: fc.Arbitrary<GrowthPlan> = fc.record({
    days: fc.integer({ min: 1, max: 12 }),
    rates: fc.array(fc.array(fc.nat(9), { minLength: 1, maxLength: 9 }), { minLength: VIDEOS, maxLength: VIDEOS }),
    outages: fc.array(
      fc.record({
        hour: fc.nat(11 * 24),
        hours: fc.integer({ min: 1, max: 80 }),
        // One video, or all.
        videos: fc.option(fc.nat(VIDEOS - 1), { nil: undefined }),
      }),
      { maxLength: 3 },
    ),
    // The first three videos are removed, the others are added.
    edits: fc.uniqueArray(fc.record({ minute: fc.nat(11 * 24 * 60), video: fc.nat(VIDEOS - 1) }), {
      selector: ({ video }) => video,
      maxLength: 4,
    }),
    prunes: fc.boolean(),
  })

  /** Runs each minute of a plan, and computes the true growth of every video. */
  async function simulate({ days, rates, outages, edits, prunes }: GrowthPlan) {
    const ids = rates.map((_, i) => `v${i}`)
    const end = days * 24 * 60
    const views = ids.map((_, i) => {
      const all = [1_000]
      for (let minute = 0; minute < end; minute++)
        all.push(all.at(-1)! + rates[i]![Math.floor(minute / 360) % rates[i]!.length]!)
      return all
    })
    const isOut = (minute: number, video: number) =>
      outages.some(
        ({ hour, hours, videos }) =>
          (videos === undefined || videos === video) && minute >= hour * 60 && minute < (hour + hours) * 60,
      )
    const members = new Set([0, 1, 2])
    /** Minutes of the first and the last numbers of each video while it was in the collection, and of its removal. */
    const seen = new Map<number, { first: number; last: number; removed?: number }>()
    let firstSaved = Infinity
    let lastSaved = 0
    await campaign.edit(['v0', 'v1', 'v2'])
    for (let minute = 0; minute <= end; minute++) {
      at(minute * MINUTE_MS)
      for (const { video } of edits.filter((one) => one.minute === minute)) {
        if (members.delete(video)) {
          const one = seen.get(video)
          if (one) one.removed = minute
        } else members.add(video)
        await campaign.edit([...members].map((i) => ids[i]!))
      }
      if (minute % 30 !== 0) continue
      const found = [...members].filter((i) => !isOut(minute, i))
      for (const i of found) {
        const one = seen.get(i)
        if (one) one.last = minute
        else seen.set(i, { first: minute, last: minute })
      }
      await campaign.refresh(found.map((i) => getViews(ids[i]!, views[i]![minute]!)))
      if (found.length > 0) {
        firstSaved = Math.min(firstSaved, minute)
        lastSaved = minute
      }
      if (prunes && minute % 720 === 0) await campaign.tidy()
    }
    /** Returns the growth of the videos between two minutes, within the time in which they had numbers. */
    const gained = (from: number, to: number) =>
      [...seen].reduce((sum, [i, { first, last }]) => {
        const [begin, until] = [Math.max(from, first), Math.min(to, last)]
        return sum + (until > begin ? views[i]![until]! - views[i]![begin]! : 0)
      }, 0)
    const oldest = Math.min(...[...members].map((i) => seen.get(i)?.last ?? Infinity))
    return { seen, gained, firstSaved, age: lastSaved - oldest }
  }

  it('matches every minute of a simulation, in a span that is never longer than the window', async () => {
    let checked = 0
    await fc.assert(
      fc
        .asyncProperty(plan, async (one) => {
          const { seen, gained, firstSaved, age } = await simulate(one)
          if (firstSaved === Infinity) return
          const change = await campaign.change()
          const isQuiet = one.outages.length === 0 && one.edits.length === 0
          for (const period of periods) {
            const { impressions, since, until: ended, isWhole, added, removed } = change[period]
            const [from, to] = [since, ended].map((time) => (Date.parse(time) - START) / MINUTE_MS) as [number, number]
            const length = PERIODS_MS[period] / MINUTE_MS
            expect(to - from).toBeLessThanOrEqual(length)
            expect(isWhole === true).toBe(to - from === length)
            if (isQuiet && to - length >= firstSaved) expect(isWhole).toBe(true)
            const near = length / 12
            const [smallest, largest] = [from + near + 30, from - 2 * near - Math.max(0, age) - 30]
            expect(impressions).toBeGreaterThanOrEqual(gained(Math.ceil(smallest), to))
            expect(impressions).toBeLessThanOrEqual(gained(Math.floor(largest), to))
            const all = [...seen.values()]
            const cameIn = all.filter(({ first }) => first > Math.max(from, firstSaved) && first <= to)
            const wentIn = all.filter(({ removed: at }) => at !== undefined && at > from && at <= to)
            expect([added?.videos ?? 0, removed?.videos ?? 0]).toEqual([cameIn.length, wentIn.length])
            checked++
          }
        })
        .beforeEach(async () => {
          await campaign.close()
          at(0)
          campaign = new SimulatedCampaign()
        }),
      { numRuns: 60 },
    )
    expect(checked).toBeGreaterThan(100)
  })
})
