import type { RunningService } from '@influencer-stats/runtime/service-host'
import { findFreePort } from '@influencer-stats/runtime/testing/free-port'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { startKv } from './support/kv.ts'
import { SAMPLE_TOTALS, SAMPLE_VIDEOS, startStandIn, type TestStandIn } from './support/stand-in.ts'
import { startStats, type TestStats } from './support/stats.ts'
import { createTemporaryFolder } from '@influencer-stats/runtime/testing/temporary-folder'
import { waitUntil } from '@influencer-stats/runtime/testing/wait-until'

const CLOSE_HEADERS = { connection: 'close' }

describe.each([
  { variant: 'v6', threads: 0 },
  { variant: 'v6', threads: 1 },
  { variant: 'v7', threads: 0 },
  { variant: 'v7', threads: 1 },
])('collections in the key-value service, %o', ({ variant, threads }) => {
  const data = createTemporaryFolder()
  let standIn: TestStandIn
  let kv: RunningService
  let stats: TestStats
  const start = () =>
    startStats({ variant, threads, state: 'kv', kvUri: kv.url, youtubeUri: standIn.url, refreshInterval: 50 })
  beforeEach(async () => {
    standIn = await startStandIn()
    kv = await startKv({ data, port: await findFreePort() })
    stats = await start()
  })
  afterEach(async () => {
    await stats.stop()
    await kv.stop()
    await standIn.stop()
  })

  it('are refused with a code during an outage, and complete after it', async () => {
    await stats.put('/collections/c', { videos: SAMPLE_VIDEOS })
    expect(await stats.get('/collections/c/stats')).toMatchObject({ status: 200, body: SAMPLE_TOTALS })
    await kv.stop()
    const refused = [
      await stats.put('/collections/c', { videos: [] }),
      await stats.put('/collections/d', { videos: SAMPLE_VIDEOS }),
      await stats.put('/collections/c/videos/aaaaaaaaaaa'),
      await stats.delete('/collections/c'),
      await stats.get('/collections/c'),
      await stats.get('/collections'),
      await stats.get('/collections/c/stats/history'),
    ]
    for (const reply of refused) expect(reply).toMatchObject({ status: 503, body: { code: 'STATE_UNAVAILABLE' } })
    expect(refused[0]!.headers.get('retry-after')).toBe('1')
    // Prepared replies are served; reads that need the state are not.
    const read = await stats.get('/collections/c/stats')
    expect(read).toMatchObject(
      variant === 'v7' ? { status: 200, body: SAMPLE_TOTALS } : { status: 503, body: { code: 'STATE_UNAVAILABLE' } },
    )
    expect((await stats.get('/healthz', CLOSE_HEADERS)).status).toBe(200)

    kv = await startKv({ data, port: new URL(kv.url).port })
    expect(await stats.get('/collections/c')).toMatchObject({ status: 200, body: { videos: SAMPLE_VIDEOS } })
    expect((await stats.get('/collections/d')).status).toBe(404)
    expect((await stats.put('/collections/d', { videos: SAMPLE_VIDEOS })).status).toBe(201)
    expect(await stats.get('/collections/c/stats')).toMatchObject({ status: 200, body: SAMPLE_TOTALS })
  })

  it('survive a restart of stats, with their history and the used quota', async () => {
    await stats.put('/collections/k', { videos: SAMPLE_VIDEOS })
    expect((await stats.get('/collections/k/stats')).status).toBe(200)
    const { body } = await waitUntil(async () => {
      const reply = await stats.get('/collections/k/stats/history')
      return reply.body.points.length > 0 && reply
    })
    expect(body.points).toHaveLength(1)
    await stats.stop()
    stats = await start()
    expect((await stats.get('/collections/k')).body.videos).toEqual(SAMPLE_VIDEOS)
    expect((await stats.get('/collections/k/stats/history')).body).toEqual(body)
    expect((await stats.get('/metrics')).body).toMatch(/^stats_quota_units_used [1-9]/m)
  })
})

it('numbers are marked stale if neither YouTube nor the key-value service responds', async () => {
  const standIn = await startStandIn()
  const kv = await startKv()
  const addresses = { kvUri: kv.url, youtubeUri: standIn.url }
  const stats = await startStats({ variant: 'v7', state: 'kv', ...addresses, refreshInterval: 50, dailyBudget: 0 })
  await stats.put('/collections/c', { videos: SAMPLE_VIDEOS })
  await waitUntil(async () => (await stats.get('/collections/c/stats')).body.stale === false)
  await kv.stop()
  await standIn.stop()
  await waitUntil(async () => (await stats.get('/collections/c/stats')).body.stale)
  expect(await stats.get('/collections/c/stats')).toMatchObject({ status: 200, body: SAMPLE_TOTALS })
  await stats.stop()
})

it('a start without the key-value service is refused', async () => {
  const kv = await startKv()
  await kv.stop()
  const start = startStats({ state: 'kv', kvUri: kv.url, youtubeUri: 'http://127.0.0.1:9' })
  await expect(start).rejects.toMatchObject({ name: 'StartError', code: 'STATE_UNAVAILABLE' })
})
