import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { variants } from '../src/variants.ts'
import { SAMPLE_TOTALS, SAMPLE_VIDEOS, startStandIn, type TestStandIn } from './support/stand-in.ts'
import { startStats, type TestStats } from './support/stats.ts'
import { createTemporaryFolder } from '@influencer-stats/runtime/testing/temporary-folder'
import { waitUntil } from '@influencer-stats/runtime/testing/wait-until'

const COLLECTION = '/collections/99757a95-f758-499f-a170-bea93b2d8bcf'

/** Reads the statistics, after the first round if numbers come only with a round. */
async function readStats(stats: TestStats): Promise<any> {
  await waitUntil(async () => (await stats.get(`${COLLECTION}/stats`)).body.code !== 'STATS_NOT_READY')
  return stats.get(`${COLLECTION}/stats`)
}

describe.each(Object.keys(variants))('variant %s', (variant) => {
  let standIn: TestStandIn
  beforeAll(async () => {
    standIn = await startStandIn()
  })
  afterAll(() => standIn.stop())

  it.each(['0', '1'])('boots with %s threads and returns the numbers of the sample', async (threads) => {
    const settings = { variant, threads, youtubeUri: standIn.url, data: createTemporaryFolder(), refreshInterval: 200 }
    const stats = await startStats(settings)
    try {
      expect((await stats.put(COLLECTION, { videos: SAMPLE_VIDEOS })).status).toBe(201)
      expect(await readStats(stats)).toMatchObject({ status: 200, body: SAMPLE_TOTALS })
      const points = await waitUntil(async () => {
        const history = await stats.get(`${COLLECTION}/stats/history`)
        return history.body.points.length > 0 && history.body.points
      })
      expect(points).toMatchObject([{ impressions: 785_202 }])
      await waitUntil(async () => (await stats.get(`${COLLECTION}/stats`)).body.stale === false)
    } finally {
      expect(await stats.stop()).toBe(true)
    }
  })
})

describe.each(['v6', 'v7'])('variant %s', (variant) => {
  it('persists the collection, its numbers, its history and the used quota over a restart', async () => {
    const standIn = await startStandIn()
    const settings = { variant, youtubeUri: standIn.url, data: createTemporaryFolder() }
    const first = await startStats(settings)
    await first.put(COLLECTION, { videos: SAMPLE_VIDEOS })
    const before = await first.get(`${COLLECTION}/stats`)
    const history = await waitUntil(async () => {
      const reply = await first.get(`${COLLECTION}/stats/history`)
      return reply.body.points.length > 0 && reply
    })
    await first.stop()
    await standIn.control.setFaults({ hang: true })

    const second = await startStats({ ...settings, upstreamTimeout: 50 })
    expect((await second.get(COLLECTION)).body.videos).toEqual(SAMPLE_VIDEOS)
    const after = await second.get(`${COLLECTION}/stats`)
    expect(after).toMatchObject({ status: 200, body: { ...SAMPLE_TOTALS, asOf: before.body.asOf } })
    expect((await second.get(`${COLLECTION}/stats/history`)).body).toEqual(history.body)
    expect((await second.get('/metrics')).body).toMatch(/^stats_quota_units_used [1-9]/m)
    await second.stop()
    await standIn.stop()
  })
})
