import { createTemporaryFolder } from '@influencer-stats/runtime/testing/temporary-folder'
import { waitUntil } from '@influencer-stats/runtime/testing/wait-until'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { createStatsClient, type StatsClient } from '../src/client.ts'
import { SAMPLE_VIDEOS, startStandIn, type TestStandIn } from './support/stand-in.ts'
import { toContent, startStats, type TestStats } from './support/stats.ts'

const [first, second] = SAMPLE_VIDEOS as [string, string]
const NAME = '=HYPERLINK("http://evil.example","click"), \u{1F331}'

/** Returns the points of a video's history once it has one, which is stored after the numbers. */
const waitForHistory = (client: StatsClient, video: string) =>
  waitUntil(async () => {
    const found = await client.getVideoHistory('c', video)
    return found!.length > 0 && found
  })

describe.each(['v3', 'v6', 'v8'])('the videos of a collection: %s', (variant) => {
  let standIn: TestStandIn
  let stats: TestStats
  let client: StatsClient
  const settings = () => ({ variant, youtubeUri: standIn.url, dailyBudget: 0, refreshInterval: 100 })

  beforeEach(async () => {
    standIn = await startStandIn()
    stats = await startStats({ ...settings(), data: createTemporaryFolder() })
    client = createStatsClient(stats.url)
  })
  afterEach(async () => {
    await stats.stop()
    await standIn.stop()
  })

  it('have titles, channels and days besides numbers, and mark removed and missing videos', async () => {
    await client.put('c', { videos: [second, 'gone_video_', `https://youtu.be/${first}`] })
    const listed = (await waitUntil(async () => {
      const reply = await client.listVideos('c')
      return reply?.videos[0]!.title !== undefined && reply
    }))!
    expect(listed).toMatchObject({ asOf: expect.any(String), stale: expect.any(Boolean) })
    const toResource = (id: string) => ({
      id,
      url: `https://www.youtube.com/watch?v=${id}`,
      title: expect.stringMatching(/#\d/),
      channel: expect.stringMatching(/^Channel /),
      channelId: expect.stringMatching(/^UC/),
      publishedAt: expect.stringMatching(/^20\d\d-.*\.000Z$/),
      duration: expect.any(Number),
      live: 'none',
      views: 261_734,
      likes: 14_237,
      comments: 451,
      dislikes: 928,
    })
    const missing = { id: 'gone_video_', url: 'https://www.youtube.com/watch?v=gone_video_', missing: true }
    expect(listed.videos).toEqual([toResource(second), missing, toResource(first)])
    await standIn.control.setFaults({ gone: [second] })
    const after = await waitUntil(async () => {
      const reply = await client.listVideos('c')
      return reply!.videos[0]!.gone && reply!.videos
    })
    const times = { since: expect.any(String), asOf: expect.any(String) }
    expect(after).toEqual([{ ...toResource(second), gone: times }, missing, toResource(first)])
    // Sums are published once they are stored: a moment after the videos.
    const sums = await waitUntil(async () => {
      const reply = (await client.getStats('c'))!
      return reply.gone && reply
    })
    expect(sums).toMatchObject({ impressions: 2 * 261_734, gone: [{ id: second }] })
    expect(await client.listVideos('none')).toBeUndefined()
  })

  it('have their own histories, independent of collections', async () => {
    await client.put('c', { videos: [first, 'gone_video_'] })
    await client.getStats('c')
    const points = await waitForHistory(client, `https://youtu.be/${first}`)
    expect(points).toMatchObject([{ impressions: 261_734, engagements: 15_616, score: 29_853, videos: 1 }])
    expect(await client.getVideoHistory('c', 'gone_video_')).toEqual([])
    expect(await client.getVideoHistory('c', first, { from: new Date(Date.parse(points[0]!.at) + 1) })).toEqual([])
    expect(await client.getVideoHistory('c', second)).toBeUndefined()
    expect(await client.getVideoHistory('none', second)).toBeUndefined()
    await client.delete('c')
    await client.put('d', { videos: [first] })
    expect((await client.getVideoHistory('d', first))![0]).toEqual(points[0])
  })

  it('are exported with all data of the campaign, safe for a spreadsheet', async () => {
    const campaign = { name: NAME, tags: ['x'], cost: 1_000, currency: 'USD' }
    await client.put('c', { videos: [first, 'gone_video_'], ...campaign })
    await waitUntil(async () => (await client.listVideos('c'))!.videos[0]!.title)
    const text = (await client.export('c', 'json'))!
    const { stats: sums, videos, costs, ...rest } = JSON.parse(text)
    expect(toContent(rest)).toEqual({ id: 'c', ...campaign })
    expect(sums).toMatchObject({ impressions: 261_734, missing: ['gone_video_'], stale: expect.any(Boolean) })
    expect(costs).toEqual({ perThousandViews: (1_000 / 261_734) * 1_000, perEngagement: 1_000 / 15_616 })
    expect(videos).toEqual((await client.listVideos('c'))!.videos)

    const reply = await stats.get('/collections/c/export?format=csv')
    expect(reply.headers.get('content-type')).toBe('text/csv; charset=utf-8; header=present')
    expect(reply.headers.get('content-disposition')).toBe('attachment; filename="c.csv"')
    const csv = (await client.export('c', 'csv'))!
    const lines = csv.split('\r\n')
    expect(lines).toHaveLength(4)
    expect(lines[0]).toContain('collection,name,video,url,title')
    expect(lines[1]).toContain(`c,"'${NAME.replaceAll('"', '""')}",'${first},https://www.youtube.com/watch?v=${first},`)
    expect(lines[1]).toContain(',261734,14237,451,928,,,20')
    expect(lines[2]).toMatch(/,gone_video_,https:.*,,,,,,,,,true,,,YouTube never returned this video$/)
    expect(await client.export('none', 'csv')).toBeUndefined()
    expect((await stats.get('/collections/c/export?format=xls')).body.code).toBe('VALIDATION_FAILED')
  })
})

describe('the details of videos', () => {
  it('survive a restart, and are requested with calls that are made anyway', async () => {
    const standIn = await startStandIn()
    const settings = { youtubeUri: standIn.url, data: createTemporaryFolder() }
    const one = await startStats(settings)
    const client = createStatsClient(one.url)
    await client.put('c', { videos: [first] })
    const before = await waitUntil(async () => {
      const reply = await client.listVideos('c')
      return reply!.videos[0]!.title && reply!.videos
    })
    const points = await waitForHistory(client, first)
    expect((await standIn.control.getCounts()).calls).toBe(1)
    await one.stop()
    await standIn.control.setFaults({ errorRate: 1 })
    const other = await startStats(settings)
    const again = createStatsClient(other.url)
    expect((await again.listVideos('c'))!.videos).toEqual(before)
    expect(await again.getVideoHistory('c', first)).toEqual(points)
    expect((await standIn.control.getCounts()).calls).toBe(1)
    await other.stop()
    await standIn.stop()
  })
})

it('the client covers the whole service', async () => {
  const standIn = await startStandIn()
  const stats = await startStats({ youtubeUri: standIn.url, data: createTemporaryFolder(), apiToken: 'secret' })
  const client = createStatsClient(stats.url, { token: 'secret' })
  expect(await client.put('c', { videos: [first], name: 'N' })).toMatchObject({ id: 'c', videos: [first], name: 'N' })
  expect(toContent({ ...(await client.patch('c', { name: null, cost: 5 })) })).toEqual({
    id: 'c',
    videos: [first],
    cost: 5,
  })
  expect(await client.patch('none', {})).toBeUndefined()
  expect(await client.addVideo('c', `https://youtu.be/${second}`)).toEqual([first, second])
  expect(await client.addVideo('none', second)).toBeUndefined()
  expect(await client.removeVideo('c', first)).toBe(true)
  expect(await client.removeVideo('c', first)).toBe(false)
  expect(toContent({ ...(await client.get('c')) })).toEqual({ id: 'c', videos: [second], cost: 5 })
  expect(await client.get('none')).toBeUndefined()
  expect(await client.getStats('c')).toMatchObject({ impressions: 261_734 })
  expect(await client.get('c', ['change', 'stats'])).toMatchObject({ costs: { perEngagement: 5 / 15_616 } })
  expect(await client.list({ include: ['stats'], sort: '-impressions', q: 'C', limit: 1 })).toMatchObject({
    collections: [{ id: 'c', stats: { impressions: 261_734 } }],
  })
  await waitUntil(async () => (await client.getHistory('c', { from: new Date(0), step: 60 }))!.length > 0)
  const wrong = createStatsClient(stats.url)
  await expect(wrong.put('c', { videos: [] })).rejects.toMatchObject({ status: 401, code: 'UNAUTHORIZED' })
  await expect(client.put('c', { videos: ['nonsense'] })).rejects.toMatchObject({ code: 'VALIDATION_FAILED' })
  expect(await client.delete('c')).toBe(true)
  expect(await client.delete('c')).toBe(false)
  await stats.stop()
  await standIn.stop()
})
