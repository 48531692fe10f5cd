import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { createStatsClient } from '../src/client.ts'
import { SAMPLE_TOTALS, SAMPLE_VIDEOS, startStandIn, type TestStandIn } from './support/stand-in.ts'
import { startStats, type TestStats } from './support/stats.ts'
import { sendPatiently } from '@influencer-stats/runtime/testing/patient-requests'
import { createTemporaryFolder } from '@influencer-stats/runtime/testing/temporary-folder'
import { waitUntil } from '@influencer-stats/runtime/testing/wait-until'

describe.each(['v3', 'v6', 'v7'])('variant %s, when YouTube fails', (variant) => {
  let standIn: TestStandIn
  let stats: TestStats
  beforeEach(async () => {
    standIn = await startStandIn()
    const timing = { refreshInterval: 200, upstreamTimeout: 1_000, dailyBudget: 0 }
    stats = await startStats({ variant, youtubeUri: standIn.url, data: createTemporaryFolder(), ...timing })
  })
  afterEach(async () => {
    await stats.stop()
    await standIn.stop()
  })

  const readStats = () => stats.get('/collections/c/stats')

  it.each([
    ['down', { cut: 'before' as const }],
    ['failing', { errorRate: 1, errorStatus: 503 }],
    ['hanging', { hang: true }],
    ['talking nonsense', { malformed: true }],
  ])('%s: the last known numbers, marked stale; fresh ones afterwards', async (_, faults) => {
    await stats.put('/collections/c', { videos: SAMPLE_VIDEOS })
    const fresh = await waitUntil(async () => {
      const reply = await readStats()
      return reply.body.stale === false && reply
    })
    expect(fresh).toMatchObject({ status: 200, body: SAMPLE_TOTALS })
    await standIn.control.setFaults(faults)
    await waitUntil(async () => (await readStats()).body.stale)
    const stale = await readStats()
    expect(stale).toMatchObject({ status: 200, body: SAMPLE_TOTALS })
    expect(Number(stale.headers.get('age'))).toBeGreaterThanOrEqual(0)
    await standIn.control.clearFaults()
    await waitUntil(async () => (await readStats()).body.stale === false)
    expect((await readStats()).body.asOf > fresh.body.asOf).toBe(true)
  })

  it('out of quota: the last known numbers, marked stale; no call before the reset of the quota', async () => {
    await stats.put('/collections/c', { videos: SAMPLE_VIDEOS })
    await waitUntil(async () => (await readStats()).body.stale === false)
    await standIn.control.setFaults({ quotaLeft: 0 })
    // A stale reply may be older than the refused call.
    await waitUntil(
      async () => (await readStats()).body.stale && (await stats.get('/upstream')).body.state === 'paused',
    )
    const { calls } = await standIn.control.getCounts()
    // Longer than the shortest pause of any other fault.
    const end = Date.now() + 1_500
    await waitUntil(async () => (await readStats()).body.stale && Date.now() > end)
    expect((await standIn.control.getCounts()).calls).toBe(calls)
    expect(await readStats()).toMatchObject({ status: 200, body: SAMPLE_TOTALS })
  })

  it('with no numbers known yet: 503 and Retry-After, until there are some', async () => {
    await standIn.control.setFaults({ errorRate: 1, errorStatus: 500 })
    expect((await stats.put('/collections/c', { videos: SAMPLE_VIDEOS })).status).toBe(201)
    const refused = await readStats()
    expect(refused).toMatchObject({ status: 503, body: { code: 'UPSTREAM_UNAVAILABLE' } })
    expect(Number(refused.headers.get('retry-after'))).toBeGreaterThanOrEqual(1)
    expect(JSON.stringify(refused.body)).not.toMatch(/stand-in|key=/)
    await standIn.control.clearFaults()
    await waitUntil(async () => (await readStats()).status === 200)
    expect(await readStats()).toMatchObject({ body: SAMPLE_TOTALS })
  })
})

describe('the quota', () => {
  const ids = Array.from({ length: 10_000 }, (_, i) => `${String(i).padStart(10, '0')}A`)

  it('refreshes 10,000 distinct videos in 200 collections with 200 calls', async () => {
    const standIn = await startStandIn()
    const data = createTemporaryFolder()
    const first = await startStats({ youtubeUri: standIn.url, data, dailyBudget: 0, refreshInterval: 3_000 })
    const client = createStatsClient(first.url)
    await sendPatiently(Array(200).keys(), async (i) => {
      await client.put(`c${i}`, { videos: ids.slice(i * 50, i * 50 + 50) })
      await client.getStats(`c${i}`)
    })
    await standIn.control.resetCounts()
    await waitUntil(async () => (await standIn.control.getCounts()).ids >= 20_000)
    const { calls, channels, ids: requested } = await standIn.control.getCounts()
    expect(requested / (calls - channels)).toBeGreaterThan(49.5)
    await first.stop()

    await standIn.control.resetCounts()
    const second = await startStats({ youtubeUri: standIn.url, data })
    // At this pace the rest of the day costs no more than the budget.
    const interval = /^stats_refresh_interval_seconds (.+)$/m.exec(String((await second.get('/metrics')).body))
    expect(Number(interval![1])).toBeGreaterThanOrEqual((86_400 * 200) / 10_000)
    expect((await standIn.control.getCounts()).calls).toBe(0)
    await second.stop()
    await standIn.stop()
  })

  it('makes no call beyond the budget, and reports the remaining budget after a restart', async () => {
    const standIn = await startStandIn()
    const settings = { youtubeUri: standIn.url, data: createTemporaryFolder(), dailyBudget: 2 }
    const first = await startStats(settings)
    for (const id of ['a', 'b', 'c']) await first.put(`/collections/${id}`, { videos: [SAMPLE_VIDEOS[0]] })
    const statuses = await Promise.all(
      ['a', 'b', 'c'].map(async (id) => (await first.get(`/collections/${id}/stats`)).status),
    )
    expect((await standIn.control.getCounts()).calls).toBeLessThanOrEqual(2)
    expect(statuses).toContain(200)
    await first.stop()
    // A read without numbers waits half a second.
    const second = await startStats({ ...settings, readTimeout: 500 })
    await second.put('/collections/d', { videos: [SAMPLE_VIDEOS[1]] })
    await waitUntil(async () => (await standIn.control.getCounts()).calls === 2)
    await second.put('/collections/e', { videos: [SAMPLE_VIDEOS[2]] })
    expect((await second.get('/collections/e/stats')).status).toBe(503)
    expect((await standIn.control.getCounts()).calls).toBe(2)
    await second.stop()
    await standIn.stop()
  })
})
