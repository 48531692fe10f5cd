import { createTemporaryFolder } from '@influencer-stats/runtime/testing/temporary-folder'
import { waitUntil } from '@influencer-stats/runtime/testing/wait-until'
import { describe, expect, it, onTestFinished } from 'vitest'
import { listOf, startFakeYoutube, videoIds } from './support/fake-youtube.ts'
import { startStats } from './support/stats.ts'

type Items = { id: string; statistics?: Record<string, unknown> | null }[]

/** Starts a service and a YouTube whose items a test changes. Each video has 100 views, 10 likes and 5 comments. */
async function setUp(variant: string, settings: Record<string, string | number> = {}) {
  const youtube = await startFakeYoutube()
  const data = createTemporaryFolder()
  const start = async () => {
    const one = await startStats({
      variant,
      youtubeUri: youtube.url,
      dailyBudget: 0,
      refreshInterval: 100,
      data,
      ...settings,
    })
    onTestFinished(() => one.stop().then(() => {}))
    return one
  }
  const control = { change: (_items: Items): Items => _items }
  youtube.handler = (ids, reply) => {
    const list = JSON.parse(listOf(ids))
    list.items = control.change(list.items)
    reply.end(JSON.stringify(list))
  }
  const stats = await start()
  const read = async () => (await stats.get('/collections/c/stats?by=video')).body
  const readUntil = (isDone: (body: any) => unknown) =>
    waitUntil(async () => {
      const body = await read()
      return isDone(body) && body
    })
  /** Checks the sums in enough reads and rounds for two omissions that would be an interval apart. */
  async function expectUnchanged(sums: { impressions: number; videos: number }, rounds: number) {
    const { length } = youtube.calls
    const begun = Date.now()
    await readUntil((body) => {
      expect(body).toMatchObject({ ...sums, missing: [] })
      expect(body).not.toHaveProperty('gone')
      return youtube.calls.length > length + rounds && Date.now() > begun + 400 && Date.parse(body.asOf) < begun
    })
  }
  return { youtube, control, stats, start, read, readUntil, expectUnchanged }
}

/** Changes the statistics of one video. */
const of = (id: string, change: (statistics: any) => unknown) => (items: Items) =>
  items.map((item) => {
    if (item.id !== id) return item
    const statistics = { ...item.statistics }
    change(statistics)
    return { ...item, statistics }
  })

const VARIANTS = ['v2', 'v3', 'v4', 'v6', 'v7', 'v8']

describe.each(VARIANTS)('a count that YouTube does not state: %s', (variant) => {
  it('retains its last known value, is marked, and comes back', async () => {
    const { control, stats, readUntil } = await setUp(variant)
    const [a, b] = videoIds(2) as [string, string]
    await stats.put('/collections/c', { videos: [a, b] })
    const before = await readUntil((body) => body.videos === 2)
    expect(before).toMatchObject({ impressions: 200, engagements: 30, score: 50 })
    expect(before).not.toHaveProperty('hidden')
    control.change = of(a, (statistics) => delete statistics.likeCount)
    const after = await readUntil((body) => body.hidden)
    expect(after).toMatchObject({ impressions: 200, engagements: 30, score: 50, videos: 2, hidden: { likes: 1 } })
    expect(after.byVideo[0]).toEqual({
      id: a,
      views: 100,
      likes: 10,
      comments: 5,
      hidden: ['likes'],
      hiddenSince: expect.stringMatching(/Z$/),
    })
    expect(after.byVideo[1]).not.toHaveProperty('hidden')
    const csv = (await stats.get('/collections/c/export?format=csv')).body as string
    expect(csv.split('\r\n')[1]).toMatch(/,100,10,5,,.*,YouTube has not stated likes since 2/)
    control.change = (items) => items
    await readUntil((body) => body.hidden === undefined)
  })

  it('is absent, and not zero, if it was never known', async () => {
    const { control, stats, readUntil } = await setUp(variant)
    const [a, b] = videoIds(2) as [string, string]
    control.change = of(a, (statistics) => {
      delete statistics.likeCount
      delete statistics.commentCount
    })
    await stats.put('/collections/c', { videos: [a, b] })
    const body = await readUntil((reply) => reply.videos === 2)
    expect(body).toMatchObject({ impressions: 200, engagements: 15, score: 25, hidden: { likes: 1, comments: 1 } })
    expect(body.byVideo[0]).toEqual({
      id: a,
      views: 100,
      hidden: ['likes', 'comments'],
      hiddenSince: expect.stringMatching(/Z$/),
    })
    const { videos } = (await stats.get('/collections/c/videos')).body
    expect(videos[0]).toMatchObject({ views: 100, hidden: ['likes', 'comments'] })
    expect(videos[0]).not.toHaveProperty('likes')
    const csv = (await stats.get('/collections/c/export?format=csv')).body as string
    const [head, first, second] = csv.split('\r\n')
    expect(head).toMatch(/,views,likes,comments,dislikes,.*,reason$/)
    expect(first).toMatch(/,100,,,,.*,YouTube has not stated likes and comments since 2/)
    expect(second).toMatch(/,100,10,5,,.*,$/)
  })
})

describe.each(VARIANTS)('unreadable numbers: %s', (variant) => {
  it.each([
    ['a count that is a number', (statistics: any) => (statistics.viewCount = 123)],
    ['a negative count', (statistics: any) => (statistics.likeCount = '-1')],
    ['a count too large to be exact', (statistics: any) => (statistics.viewCount = '9007199254740993')],
  ])('%s leaves the numbers of the video and their age unchanged', async (_, spoil) => {
    const { control, stats, read, readUntil, expectUnchanged } = await setUp(variant)
    const ids = videoIds(3)
    await stats.put('/collections/c', { videos: ids })
    const before = await readUntil((body) => body.videos === 3)
    control.change = of(ids[1]!, spoil)
    await expectUnchanged({ impressions: 300, videos: 3 }, 6)
    expect(before.asOf <= (await read()).asOf).toBe(true)
    const fresh = (await stats.get('/collections/c/videos')).body.videos
    expect(fresh.map(({ views }: { views: number }) => views)).toEqual([100, 100, 100])
  })

  it('leave a video unknown that had no numbers', async () => {
    const { control, stats, readUntil } = await setUp(variant)
    const ids = videoIds(3)
    control.change = of(ids[2]!, (statistics) => (statistics.viewCount = 123))
    await stats.put('/collections/c', { videos: ids })
    const body = await readUntil((reply) => reply.videos === 2)
    expect(body).toMatchObject({ impressions: 200, missing: [], unknown: [ids[2]] })
    const csv = (await stats.get('/collections/c/export?format=csv')).body as string
    expect(csv.split('\r\n')[3]).toMatch(/,,,,.*,no numbers from YouTube yet$/)
  })
})

describe.each(VARIANTS)('a video that YouTube omits: %s', (variant) => {
  it('is not removed after the first omission', async () => {
    const { youtube, control, stats, read, readUntil } = await setUp(variant, { refreshInterval: 600 })
    const ids = videoIds(3)
    await stats.put('/collections/c', { videos: ids })
    const before = await readUntil((body) => body.videos === 3)
    let omissions = 0
    let [first, last] = [Infinity, 0]
    control.change = (items) => {
      if (items.some(({ id }) => id === ids[0]) && omissions++ === 0) first = Date.now()
      last = Date.now()
      return items.filter(({ id }) => id !== ids[0])
    }
    const removed = await waitUntil(async () => {
      const body = await read()
      expect(body).toMatchObject({ impressions: 300, videos: 3, missing: [] })
      if (body.gone) return body
      if (omissions > 0) expect(body.byVideo[0]).toEqual({ id: ids[0], views: 100, likes: 10, comments: 5 })
      return false
    })
    expect(omissions).toBeGreaterThan(1)
    expect(youtube.calls.length).toBeGreaterThan(1)
    // The service counts from its request, which a busy machine may send late. Both times are rounded to milliseconds.
    const since = Date.parse(removed.gone[0].since)
    expect(since).toBeGreaterThan(Date.parse(before.asOf))
    expect(since).toBeLessThanOrEqual(first + 1)
    expect(last - since).toBeGreaterThanOrEqual(598)
    expect(removed.gone[0].asOf >= before.asOf).toBe(true)
    const csv = (await stats.get('/collections/c/export?format=csv')).body as string
    expect(csv.split('\r\n')[1]).toMatch(/,100,10,5,,.*,removed or private; last known numbers$/)
  })
})

describe.each(['v6', 'v8'])('an empty reply for a full batch: %s', (variant) => {
  it('is a fault of the response', async () => {
    const { control, stats, readUntil, expectUnchanged } = await setUp(variant)
    const ids = videoIds(50)
    await stats.put('/collections/c', { videos: ids })
    await readUntil((body) => body.videos === 50)
    control.change = () => []
    await expectUnchanged({ impressions: 5_000, videos: 50 }, 2)
  })
})

it('hidden counts and the first omission survive a restart', async () => {
  const { control, stats, start, read, readUntil } = await setUp('v8')
  const ids = videoIds(3)
  await stats.put('/collections/c', { videos: ids })
  await readUntil((body) => body.videos === 3)
  control.change = of(ids[0]!, (statistics) => delete statistics.likeCount)
  await readUntil((body) => body.hidden)
  const { hiddenSince } = (await read()).byVideo[0]
  // The service stores it after the reply.
  await waitUntil(async () => (await stats.get('/collections/c?include=stats')).body.stats.hidden)
  await stats.stop()
  const again = await start()
  const { body } = await again.get('/collections/c/stats?by=video')
  expect(body).toMatchObject({ engagements: 45, hidden: { likes: 1 } })
  expect(body.byVideo[0]).toMatchObject({ likes: 10, hidden: ['likes'], hiddenSince })
})

it('an item without statistics is not removed, and hides all counts', async () => {
  const { control, stats, readUntil } = await setUp('v8')
  const ids = videoIds(2)
  await stats.put('/collections/c', { videos: ids })
  await readUntil((body) => body.videos === 2)
  control.change = (items) => items.map((item) => (item.id === ids[0] ? { id: item.id } : item))
  const body = await readUntil((reply) => reply.hidden)
  expect(body).toMatchObject({ impressions: 200, hidden: { views: 1, likes: 1, comments: 1 } })
  expect(body).not.toHaveProperty('gone')
})
