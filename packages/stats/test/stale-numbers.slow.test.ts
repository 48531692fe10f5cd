import { setTimeout as delay } from 'node:timers/promises'
import { describe, expect, it, onTestFinished } from 'vitest'
import { startProcessClock } from '@influencer-stats/runtime/testing/process-clock'
import { createTemporaryFolder } from '@influencer-stats/runtime/testing/temporary-folder'
import { waitUntil } from '@influencer-stats/runtime/testing/wait-until'
import {
  dripping,
  failing,
  flooding,
  hanging,
  listOf,
  numbers,
  startFakeYoutube,
  videoIds,
  type FakeYoutube,
} from './support/fake-youtube.ts'
import { startStats } from './support/stats.ts'

/** The default service with a YouTube that the test controls. */
async function setUp(settings: Record<string, string | number> = {}) {
  const youtube = await startFakeYoutube()
  const data = createTemporaryFolder()
  const start = async () => {
    const one = await startStats({ youtubeUri: youtube.url, data, dailyBudget: 0, ...settings })
    onTestFinished(() => one.stop().then(() => {}))
    return one
  }
  return { youtube, start, stats: await start() }
}

const path = (id: string) => `/collections/${id}/stats`
const idsOf = ({ calls }: FakeYoutube) => calls.flat().length

describe('a YouTube whose replies never end', () => {
  it.each([
    ['drips', dripping],
    ['floods', flooding],
  ])('%s: numbers are marked stale, and fresh again afterwards', async (_, endless) => {
    const { youtube, stats } = await setUp({ refreshInterval: 300, upstreamTimeout: 300 })
    await stats.put('/collections/c', { videos: videoIds(3) })
    await waitUntil(async () => (await stats.get(path('c'))).body.stale === false)
    youtube.handler = endless
    const stale = await waitUntil(async () => {
      const reply = await stats.get(path('c'))
      return reply.body.stale && reply
    })
    expect(stale.body).toMatchObject({ impressions: 300, videos: 3 })
    youtube.handler = numbers
    await waitUntil(async () => (await stats.get(path('c'))).body.stale === false)
  })
})

describe('quota', () => {
  it('an outage costs at most its share of the day, and tries no collection twice before the others', async () => {
    const { youtube, stats } = await setUp({ dailyBudget: 100, refreshInterval: 10 })
    youtube.handler = failing
    for (let i = 0; i < 10; i++) await stats.put(`/collections/c${i}`, { videos: videoIds(50, i * 50) })
    for (let i = 0; i < 10; i++) expect((await stats.get(path(`c${i}`))).status).toBe(503)
    await delay(2_500)
    expect(youtube.calls.length).toBeLessThanOrEqual(11)
    // A pause follows each failure, so some collections may still wait for their first try.
    expect(youtube.calls.length).toBeGreaterThan(3)
    expect(new Set(youtube.calls.flat()).size).toBe(50 * Math.min(10, youtube.calls.length))
  })

  it('calls that never reach YouTube are not counted', async () => {
    const youtube = await startFakeYoutube()
    const settings = { data: createTemporaryFolder(), dailyBudget: 5, youtubeUri: 'http://127.0.0.1:9' }
    const lost = await startStats(settings)
    for (let i = 0; i < 10; i++) {
      await lost.put(`/collections/c${i}`, { videos: videoIds(1, i) })
      expect((await lost.get(path(`c${i}`))).status).toBe(503)
    }
    expect((await lost.get('/metrics')).body).toMatch(/^stats_quota_units_used 0$/m)
    await lost.stop()
    const found = await startStats({ ...settings, youtubeUri: youtube.url })
    onTestFinished(() => found.stop().then(() => {}))
    await found.put('/collections/new', { videos: videoIds(1, 99) })
    expect((await found.get(path('new'))).status).toBe(200)
  })

  it('a change of a collection requests only the unknown videos', async () => {
    const { youtube, stats } = await setUp({ refreshInterval: 600_000, upstreamTimeout: 60_000, readTimeout: 60_000 })
    await stats.put('/collections/c', { videos: [] })
    // The first calls get their response after all additions, so their duration does not matter.
    const { promise, resolve: release } = Promise.withResolvers<void>()
    youtube.handler = (ids, reply) => promise.then(() => numbers(ids, reply))
    for (const id of videoIds(100)) await stats.put(`/collections/c/videos/${id}`)
    release()
    expect((await stats.get(path('c'))).body).toMatchObject({ videos: 100, impressions: 10_000 })
    await stats.put('/collections/d', { videos: videoIds(60) })
    expect((await stats.get(path('d'))).body).toMatchObject({ videos: 60 })
    expect(idsOf(youtube)).toBe(100)
    expect(youtube.calls.length).toBeLessThan(10)
  })

  it('a restart requests no fresh videos', async () => {
    const { youtube, start, stats } = await setUp({ refreshInterval: 600_000 })
    for (const id of ['a', 'b', 'c']) {
      await stats.put(`/collections/${id}`, { videos: videoIds(50, id.charCodeAt(0) * 50) })
      await stats.get(path(id))
    }
    await stats.stop()
    youtube.calls.length = 0
    for (let restart = 0; restart < 5; restart++) {
      const again = await start()
      for (const id of ['a', 'b', 'c']) expect((await again.get(path(id))).body).toMatchObject({ stale: false })
      await again.put('/collections/new', { videos: videoIds(1, restart) })
      expect((await again.get(path('new'))).status).toBe(200)
      await again.stop()
    }
    expect(youtube.calls).toEqual(videoIds(5).map((id) => [id]))
  })
})

describe('freshness', () => {
  const COLLECTIONS = 40

  /** Many collections with a slow refresh: two calls at a time, each with a delay. */
  async function setUpSlow(settings: Record<string, string | number> = {}) {
    const both = await setUp({ refreshInterval: 200, upstreamConnections: 4, upstreamTimeout: 10_000, ...settings })
    const { youtube, stats } = both
    for (let i = 0; i < COLLECTIONS; i++) await stats.put(`/collections/c${i}`, { videos: videoIds(50, i * 50) })
    await Promise.all(Array.from({ length: COLLECTIONS }, (_, i) => stats.get(path(`c${i}`))))
    youtube.handler = (ids, reply) => void setTimeout(() => numbers(ids, reply), 300).unref()
    return both
  }

  it('a first fetch does not wait for the refresh of all others', async () => {
    const { youtube, stats } = await setUpSlow()
    const before = youtube.calls.length
    await waitUntil(() => youtube.calls.length > before + 2)
    const from = youtube.calls.length
    await stats.put('/collections/new', { videos: videoIds(3, 90_000) })
    expect((await stats.get(path('new'))).body).toMatchObject({ videos: 3 })
    expect(youtube.calls.length - from).toBeLessThan(COLLECTIONS / 2)
  })

  it("publishes each call's numbers at once, and calls nothing fresh that is older than two intervals", async () => {
    const { youtube, stats } = await setUpSlow()
    const read = () => Promise.all(Array.from({ length: COLLECTIONS }, (_, i) => stats.get(path(`c${i}`))))
    const start = Date.now()
    youtube.calls.length = 0
    await waitUntil(() => youtube.calls.length >= COLLECTIONS / 2)
    const replies = await read()
    const renewed = replies.filter(({ body }) => Date.parse(body.asOf) > start)
    expect(renewed.length).toBeGreaterThan(0)
    expect(renewed.length).toBeLessThan(COLLECTIONS)
    // A margin for the time between the reply and now.
    for (const { body } of replies) if (Date.parse(body.asOf) < start - 500) expect(body.stale).toBe(true)
    const metrics = String((await stats.get('/metrics')).body)
    expect(Number(/^stats_collections_stale (\d+)$/m.exec(metrics)![1])).toBeGreaterThan(0)
  })

  it('numbers that become stale have another ETag, and a reader with the old one gets the new reply', async () => {
    const { youtube, stats } = await setUp({ refreshInterval: 500 })
    await stats.put('/collections/c', { videos: videoIds(2) })
    const fresh = await stats.get(path('c'))
    expect(fresh).toMatchObject({ status: 200, body: { stale: false } })
    youtube.handler = hanging
    const stated = await waitUntil(async () => {
      const reply = await stats.get(path('c'), { 'if-none-match': fresh.headers.get('etag')! })
      return reply.status === 200 && reply.body.stale && reply
    })
    expect(stated.body).toMatchObject({ impressions: 200, stale: true, asOf: fresh.body.asOf })
    const byVideo = await stats.get(`${path('c')}?by=video`)
    expect(byVideo.body).toMatchObject({ stale: true })
  })

  it('no read waits longer than its timeout', async () => {
    const { youtube, stats } = await setUp({ upstreamTimeout: 20_000, readTimeout: 200 })
    youtube.handler = hanging
    await stats.put('/collections/c', { videos: videoIds(2) })
    const time = startProcessClock()
    const late = await stats.get(path('c'))
    expect(late).toMatchObject({ status: 503, body: { code: 'UPSTREAM_UNAVAILABLE' } })
    expect(Number(late.headers.get('retry-after'))).toBeGreaterThanOrEqual(1)
    expect(time()).toBeLessThan(10_000)
  })
})

describe('failures', () => {
  const bad = videoIds(1, 7_777)[0]!

  it('one video without statistics affects no other of its call', async () => {
    const { youtube, stats } = await setUp()
    youtube.handler = (ids, reply) => {
      const list = JSON.parse(listOf(ids))
      for (const one of list.items) if (one.id === bad) delete one.statistics
      reply.end(JSON.stringify(list))
    }
    await stats.put('/collections/c', { videos: [bad, ...videoIds(49)] })
    expect((await stats.get(path('c'))).body).toMatchObject({ impressions: 4_900, videos: 49, missing: [bad] })
  })

  it('one collection that fails slows no other', async () => {
    const { youtube, stats } = await setUp({ refreshInterval: 100 })
    youtube.handler = (ids, reply) => (ids.includes(bad) ? failing : numbers)(ids, reply)
    await stats.put('/collections/good', { videos: videoIds(49) })
    await stats.get(path('good'))
    await stats.put('/collections/bad', { videos: [bad] })
    await stats.put('/collections/both', { videos: [bad, ...videoIds(3)] })
    expect((await stats.get(path('bad'))).status).toBe(503)
    expect((await stats.get(path('both'))).body).toMatchObject({ impressions: 300, videos: 3, unknown: [bad] })
    for (let i = 0; i < 5; i++) {
      const { asOf } = (await stats.get(path('good'))).body
      await waitUntil(async () => (await stats.get(path('good'))).body.asOf > asOf)
    }
    await waitUntil(async () => (await stats.get(path('good'))).body.stale === false)
    youtube.handler = numbers
    await waitUntil(async () => (await stats.get(path('bad'))).status === 200)
  })

  it('while YouTube is down a video may be added: the known numbers remain', async () => {
    const { youtube, stats } = await setUp({ refreshInterval: 100 })
    await stats.put('/collections/c', { videos: videoIds(3) })
    await stats.get(path('c'))
    youtube.handler = failing
    await stats.put(`/collections/c/videos/${bad}`)
    expect(await stats.get(path('c'))).toMatchObject({ status: 200, body: { impressions: 300, unknown: [bad] } })
    youtube.handler = numbers
    await waitUntil(async () => (await stats.get(path('c'))).body.impressions === 400)
    expect((await stats.get(path('c'))).body.unknown).toBeUndefined()
  })
})
