import { createTemporaryFolder } from '@influencer-stats/runtime/testing/temporary-folder'
import { waitUntil } from '@influencer-stats/runtime/testing/wait-until'
import fc from 'fast-check'
import { afterEach, beforeEach, describe, expect, it, onTestFinished, vi } from 'vitest'
import { CollectionsOwner } from '../src/collections.ts'
import { PERIODS, periods } from '../src/core/change.ts'
import type { VideoNumbers } from '../src/core/numbers.ts'
import { DAY } from '../src/core/pace.ts'
import { keptRows, Overview } from '../src/overview.ts'
import { createMapState } from '../src/state/map.ts'
import type { Collection } from '../src/state/state.ts'
import { listOf, startFakeYoutube, videoIds } from './support/fake-youtube.ts'
import { startStats } from './support/stats.ts'

const MINUTE = 60_000
const HOUR = 60 * MINUTE
const START = Date.parse('2026-03-01T00:00:00Z')

const timeOf = (time: number) => new Date(time).toISOString()

/** A collection on a clock that the test sets, stored as a poller stores it. */
class Campaign {
  readonly #owner = new CollectionsOwner({ state: createMapState(), retention: 30 * DAY })
  readonly #overview = new Overview(keptRows(this.#owner, 'a source'), this.#owner)
  #collection: Collection | undefined
  /** Last known numbers, and when they were requested. */
  readonly known = new Map<string, { numbers: VideoNumbers; asOf: number }>()

  async edit(videos: readonly string[]): Promise<void> {
    this.#collection = (await this.#owner.put('c', videos)).collection
    if (this.#isSettled || videos.length === 0) await this.#save(Date.now())
  }

  get #isSettled() {
    return this.#collection!.videos.some((id) => this.known.has(id))
  }

  /** Refreshes, now, the videos in the response. */
  async refresh(found: readonly VideoNumbers[]): Promise<void> {
    for (const numbers of found) this.known.set(numbers.id, { numbers, asOf: Date.now() })
    if (this.#isSettled) await this.#save()
  }

  async #save(since?: number): Promise<void> {
    const { videos: ids } = this.#collection!
    const known = ids.flatMap((id) => this.known.get(id) ?? [])
    const times = ids.length > 0 ? known.map(({ asOf }) => asOf) : [Date.now()]
    const newest = since ?? Math.max(...times)
    const asOf = Math.min(...times)
    await this.#owner.saveSnapshot(this.#collection!, {
      videos: known.map(({ numbers }) => numbers),
      missing: [],
      asOf,
      ...(newest > asOf && { since: newest }),
    })
  }

  /** Growth as an overview reports it. */
  async change() {
    return (await this.#overview.one('c', true))!.change!
  }

  tidy = () => this.#owner.tidy(Date.now())
  history = () => this.#owner.history('c', 0, Date.now(), 100_000)
  close = () => this.#owner.close()
}

const viewsOf = (id: string, views: number): VideoNumbers => ({ id, views, likes: 10, comments: 5 })

describe('the growth of a collection', () => {
  let campaign: Campaign
  const at = (time: number) => vi.setSystemTime(START + time)

  beforeEach(() => {
    vi.useFakeTimers({ toFake: ['Date'], now: START })
    campaign = new Campaign()
  })
  afterEach(async () => {
    await campaign.close()
    vi.useRealTimers()
  })

  /** Refreshes every half an hour; `views` of the hours since the start. */
  async function run(from: number, to: number, views: (hours: number) => number, ids: readonly string[] = ['a']) {
    for (let time = from; time <= to; time += HOUR / 2) {
      at(time)
      await campaign.refresh(ids.map((id) => viewsOf(id, views(time / HOUR))))
    }
  }

  it('of a window is that of the window, not of a longer outage', async () => {
    await campaign.edit(['a'])
    await run(0, 8 * DAY, (hours) => 1_000 + 50 * Math.floor(hours))
    await run(11 * DAY, 11 * DAY, () => 14_500)
    const afterOutage = await campaign.change()
    expect(afterOutage['24h']).toMatchObject({ impressions: 0, since: timeOf(START + 11 * DAY) })
    expect(afterOutage['7d']).toMatchObject({ impressions: 14_500 - (1_000 + 50 * 96), isWhole: true })
    await run(11 * DAY, 11.5 * DAY, (hours) => 14_500 + 10 * (hours - 264))
    expect((await campaign.change())['24h']).toMatchObject({ impressions: 120, since: timeOf(START + 11 * DAY) })
    await run(11.5 * DAY, 12.5 * DAY, (hours) => 14_500 + 10 * (hours - 264))
    expect((await campaign.change())['24h']).toMatchObject({ impressions: 240, isWhole: true })
  })

  it('of a window is that of the window where a part of the videos could not be refreshed', async () => {
    await campaign.edit(['a', 'b'])
    await run(0, 8 * DAY, (hours) => hours, ['a', 'b'])
    await run(8 * DAY, 11 * DAY, (hours) => hours, ['a'])
    await run(11 * DAY, 11 * DAY + HOUR / 2, (hours) => (hours === 264 ? 192 : 10_000), ['b'])
    await run(11 * DAY + HOUR / 2, 11 * DAY + HOUR / 2, (hours) => hours, ['a'])
    const { impressions, since } = (await campaign.change())['24h']
    expect(impressions).toBeLessThanOrEqual(24)
    expect(Date.parse(since)).toBeGreaterThanOrEqual(START + 10 * DAY)
  })

  it('is exact at the beginning of the window: interpolated between near points', async () => {
    await campaign.edit(['a'])
    await run(0, 2 * DAY, (hours) => 100 * hours)
    at(2 * DAY + 20 * MINUTE)
    await campaign.refresh([viewsOf('a', 4_900)])
    const { impressions, since, until: end, isWhole } = (await campaign.change())['24h']
    expect({ since, end, isWhole }).toEqual({
      since: timeOf(START + DAY + 20 * MINUTE),
      end: timeOf(START + 2 * DAY + 20 * MINUTE),
      isWhole: true,
    })
    expect(impressions).toBe(4_900 - 2_433)
  })

  it('is that of sums which have not changed for days', async () => {
    await campaign.edit(['a'])
    await run(0, DAY, (hours) => hours)
    await run(DAY, 6 * DAY, () => 24)
    expect((await campaign.change())['24h']).toMatchObject({
      impressions: 0,
      isWhole: true,
      until: timeOf(START + 6 * DAY),
    })
    await run(6 * DAY, 6 * DAY + HOUR, () => 30)
    expect((await campaign.change())['24h']).toMatchObject({ impressions: 6, isWhole: true })
  })

  it('says that the campaign is younger than the window', async () => {
    await campaign.edit(['a'])
    await run(0, 3 * DAY, (hours) => hours)
    const change = await campaign.change()
    expect(change['24h']).not.toHaveProperty('young')
    expect(change['7d']).toMatchObject({ impressions: 72, since: timeOf(START), young: true })
  })

  it('has no part in what is added and removed', async () => {
    await campaign.edit(['a', 'b'])
    await run(0, 2 * DAY, () => 1_000, ['a', 'b'])
    at(2 * DAY + 10 * MINUTE)
    await campaign.edit(['a'])
    const removed = { videos: 1, impressions: 1_000, engagements: 15, score: 25 }
    expect((await campaign.change())['24h']).toMatchObject({ impressions: 0, engagements: 0, score: 0, removed })
    await campaign.edit(['a', 'new'])
    await run(2 * DAY + HOUR, 2 * DAY + HOUR, () => 1_200, ['a', 'new'])
    const added = { videos: 1, impressions: 1_200, engagements: 15, score: 25 }
    expect((await campaign.change())['24h']).toMatchObject({ impressions: 200, engagements: 0, removed, added })
    await run(2 * DAY + HOUR, 4 * DAY, () => 1_200, ['a', 'new'])
    const later = (await campaign.change())['24h']
    expect(later).toMatchObject({ impressions: 0 })
    expect(later).not.toHaveProperty('added')
    expect(later).not.toHaveProperty('removed')
  })

  it('has no part in a count that is stated for the first time, or returns after days', async () => {
    await campaign.edit(['a'])
    const hidden = { id: 'a', views: 7, hidden: ['likes', 'comments'] as const, hiddenSince: START }
    for (let time = 0; time <= 2 * DAY; time += HOUR / 2) {
      at(time)
      await campaign.refresh([hidden])
    }
    at(2 * DAY + HOUR / 2)
    await campaign.refresh([{ id: 'a', views: 7, likes: 5_000, comments: 30 }])
    const added = { videos: 0, impressions: 0, engagements: 5_030, score: 10_030 }
    expect((await campaign.change())['24h']).toMatchObject({ impressions: 0, engagements: 0, score: 0, added })
    at(2 * DAY + HOUR)
    const again = { ...hidden, likes: 5_000, comments: 30, hiddenSince: START + 2 * DAY + HOUR }
    await campaign.refresh([again])
    for (let time = 2 * DAY + HOUR; time <= 5 * DAY; time += HOUR / 2) {
      at(time)
      await campaign.refresh([again])
    }
    at(5 * DAY + HOUR / 2)
    await campaign.refresh([{ id: 'a', views: 7, likes: 9_000, comments: 30 }])
    expect((await campaign.change())['24h']).toMatchObject({ engagements: 0, score: 0, added: { engagements: 4_000 } })
  })

  interface Plan {
    readonly days: number
    /** Views per minute of each video, in turns of six hours. */
    readonly rates: readonly (readonly number[])[]
    readonly outages: readonly { readonly hour: number; readonly hours: number; readonly videos?: number | undefined }[]
    readonly edits: readonly { readonly minute: number; readonly video: number }[]
    readonly prunes: boolean
  }
  const VIDEOS = 6
  const plan: fc.Arbitrary<Plan> = fc.record({
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
  async function simulate({ days, rates, outages, edits, prunes }: Plan) {
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
      at(minute * MINUTE)
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
      await campaign.refresh(found.map((i) => viewsOf(ids[i]!, views[i]![minute]!)))
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

  it('is the true one of its span, which is never longer than the window: against every minute of a simulation', async () => {
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
            const [from, to] = [since, ended].map((time) => (Date.parse(time) - START) / MINUTE) as [number, number]
            const length = PERIODS[period] / MINUTE
            expect(to - from).toBeLessThanOrEqual(length)
            expect(isWhole === true).toBe(to - from === length)
            if (isQuiet && to - length >= firstSaved) expect(isWhole).toBe(true)
            const near = length / 12
            const [fewest, most] = [from + near + 30, from - 2 * near - Math.max(0, age) - 30]
            expect(impressions).toBeGreaterThanOrEqual(gained(Math.ceil(fewest), to))
            expect(impressions).toBeLessThanOrEqual(gained(Math.floor(most), to))
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
          campaign = new Campaign()
        }),
      { numRuns: 60 },
    )
    expect(checked).toBeGreaterThan(100)
  })
})

describe.each(['v3', 'v6', 'v8'])('edits: %s', (variant) => {
  it('are apart from growth, and marked in the history', async () => {
    const youtube = await startFakeYoutube()
    youtube.answer = (ids, reply) => reply.end(listOf(ids, 1_000))
    const settings = {
      variant,
      youtubeUri: youtube.url,
      data: createTemporaryFolder(),
      dailyBudget: 0,
      refreshInterval: 100,
    }
    const stats = await startStats(settings)
    onTestFinished(() => stats.stop().then(() => {}))
    const [a, b, c] = videoIds(3)
    await stats.put('/collections/c', { videos: [a, b] })
    const read = async () => {
      await stats.get('/collections/c/stats')
      return (await stats.get('/collections/c?include=stats,change')).body
    }
    await waitUntil(async () => (await read()).change)
    await stats.delete(`/collections/c/videos/${b}`)
    const one = { videos: 1, impressions: 1_000, engagements: 15, score: 25 }
    const removed = await waitUntil(async () => {
      const { change } = await read()
      expect(change['24h']).toMatchObject({ impressions: 0, engagements: 0, score: 0 })
      return change['24h'].removed
    })
    expect(removed).toEqual(one)
    await stats.put(`/collections/c/videos/${c}`)
    const { change } = await waitUntil(async () => {
      const body = await read()
      expect(body.change['24h']).toMatchObject({ impressions: 0, engagements: 0, score: 0 })
      return body.change['24h'].added && body
    })
    expect(change['7d']).toMatchObject({ added: one, removed: one, young: true })
    const { points } = (await stats.get('/collections/c/stats/history')).body
    expect(points.map(({ added, removed: gone }: any) => ({ ...(added && { added }), ...(gone && { gone }) }))).toEqual(
      [{}, { gone: one }, { added: one }],
    )
    expect(Object.keys(points[0])).toEqual(['at', 'impressions', 'engagements', 'score', 'videos'])
  })
})
