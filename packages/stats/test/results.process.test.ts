import type { Overrides } from '@influencer-stats/runtime/embed'
import { createTemporaryFolder } from '@influencer-stats/runtime/testing/temporary-folder'
import { waitUntil } from '@influencer-stats/runtime/testing/wait-until'
import { describe, expect, it, onTestFinished } from 'vitest'
import { createStatsClient } from '../src/client.ts'
import { DAY_MS } from '../src/core/quota-budget.ts'
import { createLevelState } from '../src/state/level-state.ts'
import { listOf, startFakeYoutube, videoIds } from './support/fake-youtube.ts'
import { startKv } from './support/kv.ts'
import { startStats } from './support/stats.ts'

const HOUR_MS = 3_600_000
const [A, B] = videoIds(2) as [string, string]
const ZONE = 'Europe/Berlin'

async function openStats(settings: Overrides) {
  const youtube = await startFakeYoutube()
  const views = { count: 100 }
  youtube.handler = (ids, reply) => reply.end(listOf(ids, views.count))
  const kvUri = settings.state === 'kv' ? (await startKv()).url : ''
  const common = { data: createTemporaryFolder(), youtubeUri: youtube.url, kvUri, dailyBudget: 0, sseUri: '' }
  const stats = await startStats({ ...common, refreshInterval: 100, ...settings })
  onTestFinished(async () => void (await stats.stop()))
  return { stats, client: createStatsClient(stats.url), views }
}

const toDay = (at: number) => new Date(at).toISOString().slice(0, 10)

const variants: readonly (readonly [string, Overrides])[] = [
  ['the defaults', { threads: 2 }],
  ['state kv', { state: 'kv' }],
  ['state map', { state: 'map' }],
  ['state list and cache lru', { state: 'list', cache: 'lru', threads: 1 }],
  ['cache refresh', { state: 'map', cache: 'refresh', threads: 1 }],
]

describe.each(variants)('results with %s', (_, settings) => {
  it('are the growth within the dates of the campaign, without edits', async () => {
    const { stats, client, views } = await openStats(settings)
    expect(await client.getResults('c')).toBeUndefined()
    await client.put('c', { videos: [A] })
    const waitForViews = (count: number) =>
      waitUntil(async () => {
        await stats.get('/collections/c/stats')
        const points = await client.getHistory('c')
        return points!.at(-1)?.impressions === count
      })
    await waitForViews(100)
    views.count = 250
    await client.addVideo('c', B)
    await waitForViews(500)

    const growth = { impressions: 150, engagements: 0, score: 0 }
    const added = { videos: 1, impressions: 250, engagements: 15, score: 25 }
    const first = { quality: 'first', impressions: 100, videos: 1 }
    const all = (await client.getResults('c'))!
    expect(all).toMatchObject({ zone: 'UTC', state: 'running', growth: { ...growth, added }, start: first })
    expect(all.end).toMatchObject({ impressions: 500, videos: 2 })

    const now = Date.now()
    await client.patch('c', { from: toDay(now - 2 * DAY_MS), to: toDay(now + 2 * DAY_MS) })
    const dated = (await client.getResults('c', { zone: ZONE }))!
    expect(dated).toMatchObject({ zone: ZONE, state: 'running', growth: { ...growth, added }, start: first })
    // Midnight in Berlin is 22:00 or 23:00 in UTC.
    expect([dated.from, dated.to].map((time) => time.slice(13))).toEqual([':00:00.000Z', ':00:00.000Z'])
    expect([22, 23]).toContain(new Date(dated.from).getUTCHours())

    await client.patch('c', { from: toDay(now - 9 * DAY_MS), to: toDay(now - 8 * DAY_MS) })
    const past = (await client.getResults('c'))!
    expect(past).toMatchObject({ from: `${toDay(now - 9 * DAY_MS)}T00:00:00.000Z`, state: 'ended' })
    expect(past).not.toHaveProperty('growth')
    const upcoming = await client.getResults('c', { from: new Date(now + DAY_MS), to: new Date(now + 2 * DAY_MS) })
    expect(upcoming).toEqual({
      from: new Date(now + DAY_MS).toISOString(),
      to: new Date(now + 2 * DAY_MS).toISOString(),
      zone: 'UTC',
      state: 'upcoming',
    })

    const refused = (query: string) => stats.get(`/collections/c/${query}`)
    expect(await refused('results?zone=Mars')).toMatchObject({ status: 400, body: { code: 'ZONE_UNKNOWN' } })
    expect(await refused('stats/history?step=day&zone=Mars')).toMatchObject({
      status: 400,
      body: { code: 'ZONE_UNKNOWN' },
    })
    expect(await refused('results?from=2026-02-01&to=2026-01-31')).toMatchObject({
      status: 409,
      body: { code: 'INVALID_DATE_RANGE' },
    })
  })
})

it('of past months come from daily points, in days of a time zone', async () => {
  const data = createTemporaryFolder()
  const state = await createLevelState({ folder: data, log: { info() {}, warn() {}, error() {} } as never })
  await state.put({ id: 'c', videos: [A], revision: 1, from: '2026-03-28', to: '2026-03-30' })
  const start = Date.parse('2026-03-27T00:00:00Z')
  // A view per hour. The numbers are from a year in which the clocks change on 29 March.
  for (let hour = 0; hour < 5 * 24; hour++) {
    const at = start + hour * HOUR_MS
    const point = { at, impressions: 1_000 + hour, engagements: 0, score: 0, videos: 1 }
    await state.putSnapshots([{ id: 'c', snapshot: { videos: [], missing: [], asOf: at }, point }])
  }
  await state.close()
  const settings = { youtubeUri: 'http://127.0.0.1:9', threads: 1, historyDays: 3_650, sseUri: '', data }
  const stats = await startStats(settings)
  onTestFinished(async () => void (await stats.stop()))
  const client = createStatsClient(stats.url)
  // Three days with 23 hours in one of them; in UTC three days of 24 hours.
  expect((await client.getResults('c', { zone: ZONE }))!.growth!.impressions).toBe(71)
  expect((await client.getResults('c'))!.growth!.impressions).toBe(72)
  const days = await client.getHistory('c', { step: 'day', zone: ZONE })
  expect(days!.map(({ at }) => at)).toEqual([
    '2026-03-27T22:00:00.000Z',
    '2026-03-28T22:00:00.000Z',
    '2026-03-29T21:00:00.000Z',
    '2026-03-30T21:00:00.000Z',
    '2026-03-31T21:00:00.000Z',
    '2026-03-31T23:00:00.000Z',
  ])
  const inUtc = await client.getHistory('c', { step: 'day' })
  expect(inUtc!.map(({ at }) => at.slice(11, 16))).toEqual(['23:00', '23:00', '23:00', '23:00', '23:00'])
})
