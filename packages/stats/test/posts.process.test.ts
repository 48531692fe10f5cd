import type { Overrides } from '@influencer-stats/runtime/embed'
import { createTemporaryFolder } from '@influencer-stats/runtime/testing/temporary-folder'
import { waitUntil } from '@influencer-stats/runtime/testing/wait-until'
import { describe, expect, it, onTestFinished } from 'vitest'
import { createStatsClient } from '../src/client.ts'
import { MAX_POSTS } from '../src/core/posts/post.ts'
import { startFakeYoutube, videoIds } from './support/fake-youtube.ts'
import { startKv } from './support/kv.ts'
import { startStats } from './support/stats.ts'

const HOUR_MS = 3_600_000
const [A] = videoIds(1) as [string]
const TIKTOK = 'https://www.tiktok.com/@anna/video/7234567890123456789'
const REEL = 'https://www.instagram.com/reel/C1a2b3c4d5e/'
const TIKTOK_ID = 'tiktok-7234567890123456789'

async function openStats(settings: Overrides = {}) {
  const youtube = await startFakeYoutube()
  const kvUri = settings.state === 'kv' ? (await startKv()).url : ''
  const stats = await startStats({
    data: createTemporaryFolder(),
    youtubeUri: youtube.url,
    kvUri,
    refreshInterval: HOUR_MS,
    dailyBudget: 0,
    sseUri: '',
    ...settings,
  })
  onTestFinished(async () => void (await stats.stop()))
  return { stats, client: createStatsClient(stats.url), youtube }
}

const variants: readonly (readonly [string, Overrides])[] = [
  ['the defaults', { threads: 2 }],
  ['state kv', { state: 'kv' }],
  ['state map', { state: 'map' }],
  ['state list and cache lru', { state: 'list', cache: 'lru', threads: 1 }],
  ['cache lru', { cache: 'lru', threads: 2 }],
  ['cache none', { cache: 'none', threads: 2 }],
  ['cache refresh', { cache: 'refresh', refreshInterval: 50, threads: 1 }],
]

describe.each(variants)('posts with %s', (_, settings) => {
  it('reported numbers appear beside the live ones, and never in them', async () => {
    const { stats, client } = await openStats(settings)
    await client.put('c', { videos: [A], cost: 10 })
    const live = await waitUntil(() => client.getStats('c').catch(() => undefined))
    expect(live).not.toHaveProperty('reported')
    expect(await client.listPosts('c')).toEqual([])
    const post = await client.addPost('c', { url: `${TIKTOK}?is_from_webapp=1`, title: 'Unboxing' })
    expect(post).toEqual({
      id: TIKTOK_ID,
      platform: 'tiktok',
      url: TIKTOK,
      creator: '@anna',
      title: 'Unboxing',
      points: 0,
    })
    const readReported = async () => {
      const all = []
      for (let i = 0; i < 3; i++) all.push((await client.getStats('c'))!.reported)
      expect((await stats.get('/collections/c/stats?by=video')).body.reported).toEqual(all[0])
      expect((await client.get('c', ['stats']))!.stats!.reported).toEqual(all[0])
      expect((await client.list({ include: ['stats'] })).collections[0]!.stats!.reported).toEqual(all[0])
      expect(new Set(all.map((one) => JSON.stringify(one))).size).toBe(1)
      return all[0]
    }
    expect(await readReported()).toEqual({ posts: 1 })
    const later = '2026-11-20T12:00:00.000Z'
    await client.reportNumbers('c', TIKTOK_ID, { views: 1_000, likes: 50, comments: 5, at: later })
    const fallen = await client.reportNumbers('c', TIKTOK_ID, { views: 900, shares: 2, at: '2026-11-21T12:00:00Z' })
    const counts = { views: 900, likes: 50, comments: 5, shares: 2 }
    expect(fallen).toMatchObject({ points: 2, numbers: { ...counts, asOf: '2026-11-21T12:00:00.000Z' } })
    const sums = { impressions: 900, engagements: 57, posts: 1, asOf: '2026-11-21T12:00:00.000Z' }
    expect(await readReported()).toEqual(sums)
    expect(await client.getStats('c')).toMatchObject({ impressions: 100, engagements: live.engagements })
    expect((await client.get('c', ['stats']))!.costs!.perThousandViews).toBeCloseTo(10, 10)

    await client.reportNumbers('c', TIKTOK_ID, { views: 800, note: 'corrected', at: '2026-11-21T12:00:00Z' })
    expect(await client.listNumbers('c', TIKTOK_ID)).toEqual([
      { at: later, views: 1_000, likes: 50, comments: 5 },
      { at: '2026-11-21T12:00:00.000Z', views: 800, note: 'corrected' },
    ])
    expect(await client.getReportedHistory('c', { from: new Date('2026-11-21') })).toEqual([
      { at: later, impressions: 1_000, engagements: 55, posts: 1 },
      { at: '2026-11-21T12:00:00.000Z', impressions: 800, engagements: 55, posts: 1 },
    ])
    expect(await readReported()).toEqual({ ...sums, impressions: 800, engagements: 55 })

    expect(await client.putPost('c', TIKTOK_ID, { url: TIKTOK, platform: 'tiktok' })).toMatchObject({ points: 2 })
    expect(await client.putPost('c', 'reel', { url: REEL })).toEqual({
      id: 'reel',
      platform: 'instagram',
      url: REEL,
      points: 0,
    })
    const csv = `url,post id,views,saves,at\n${REEL},,40,3,2026-11-22\n,${TIKTOK_ID},850,,2026-11-22\nx,gone,1,,\n`
    const rows = [
      { line: 2, state: 'new', post: 'reel' },
      { line: 3, state: 'new', post: TIKTOK_ID },
      { line: 4, state: 'refused', reason: 'POST_NOT_FOUND', detail: 'gone' },
    ]
    const before = await readReported()
    const result = { stored: 2, refused: 1, rows, unknownHeadings: [] }
    expect(await client.importNumbers('c', csv, true)).toEqual(result)
    expect(await readReported()).toEqual(before)
    expect(await client.importNumbers('c', csv)).toEqual(result)
    expect((await client.importNumbers('c', csv))!.rows[0]).toEqual({ line: 2, state: 'replaced', post: 'reel' })
    const both = { impressions: 890, engagements: 55, saves: 3, posts: 2, asOf: '2026-11-22T00:00:00.000Z' }
    expect(await readReported()).toEqual(both)
    const lines = (await client.export('c', 'csv'))!.split('\r\n')
    expect(lines[0]).toMatch(/,reason,platform,post,shares,saves$/)
    expect(lines[2]).toContain(`,${REEL},,,,40,,,,,,2026-11-22T00:00:00.000Z,,reported`)
    expect(JSON.parse((await client.export('c', 'json'))!)).toMatchObject({
      stats: { reported: both },
      posts: [{ id: 'reel' }, { id: TIKTOK_ID }],
    })

    expect(await client.deleteNumbers('c', 'reel', '2026-11-22T01:00:00+01:00')).toBe(true)
    expect(await client.deleteNumbers('c', 'reel', '2026-11-22T00:00:00Z')).toBe(false)
    expect(await client.listNumbers('c', 'reel')).toEqual([])
    expect((await client.listPosts('c'))![0]).toEqual({ id: 'reel', platform: 'instagram', url: REEL, points: 0 })
    expect(await readReported()).toEqual({ impressions: 850, engagements: 55, posts: 2, asOf: both.asOf })
    expect(await client.deleteNumbers('c', TIKTOK_ID, '2026-11-22T00:00:00.000Z')).toBe(true)
    expect(await readReported()).toEqual({ ...sums, impressions: 800, engagements: 55, posts: 2 })
    await client.importNumbers('c', csv)
    expect(await readReported()).toEqual(both)

    await client.delete('c')
    expect((await stats.get('/collections/c/posts')).body.code).toBe('COLLECTION_NOT_FOUND')
    expect((await stats.post('/collections/c/posts/reel/numbers', { views: 1 })).body.code).toBe('COLLECTION_NOT_FOUND')
    await client.restore('c')
    await waitUntil(() => client.getStats('c').catch(() => undefined))
    expect(await readReported()).toEqual(both)

    expect(await client.deletePost('c', 'reel')).toBe(true)
    expect(await client.deletePost('c', 'reel')).toBe(false)
    expect(await client.deletePost('c', TIKTOK_ID)).toBe(true)
    expect(await readReported()).toBeUndefined()
    expect(await client.getStats('c')).toEqual({ ...live, asOf: expect.any(String), stale: expect.any(Boolean) })
    await client.putPost('c', 'reel', { url: REEL })
    expect(await client.listNumbers('c', 'reel')).toEqual([])
    await client.delete('c')
    await client.put('c', { videos: [] })
    await waitUntil(() => client.getStats('c').catch(() => undefined))
    expect(await readReported()).toBeUndefined()
    expect(await client.listPosts('c')).toEqual([])
  })
})

it('limits and contradictions have codes', async () => {
  const { stats, client } = await openStats({ threads: 1 })
  await client.put('c', { videos: [] })
  const code = async (reply: Promise<{ body: { code?: string } }>) => (await reply).body.code
  const put = (post: string, body: object) => stats.put(`/collections/c/posts/${post}`, body)
  const report = (post: string, body: object) => stats.post(`/collections/c/posts/${post}/numbers`, body)
  expect(await code(put('p', { url: 'https://youtu.be/-4lB5EKS5Uk' }))).toBe('VALIDATION_FAILED')
  expect(await code(put('p', { url: TIKTOK, platform: 'instagram' }))).toBe('PLATFORM_MISMATCH')
  expect(await code(report('p', { views: 1 }))).toBe('POST_NOT_FOUND')
  expect(await code(stats.get('/collections/c/posts/p/numbers'))).toBe('POST_NOT_FOUND')
  expect((await put('p', { url: TIKTOK })).status).toBe(201)
  expect((await put('p', { url: `${TIKTOK}/` })).status).toBe(200)
  expect(await code(put('q', { url: `${TIKTOK}?a=b` }))).toBe('DUPLICATE_POST')
  expect(await code(report('p', {}))).toBe('NO_NUMBERS')
  expect(await code(report('p', { views: null }))).toBe('VALIDATION_FAILED')
  const soon = new Date(Date.now() + HOUR_MS).toISOString()
  expect(await code(report('p', { views: 1, at: soon }))).toBe('NUMBERS_IN_FUTURE')
  const csv = (rows: number) =>
    `post id,views,at\n${Array.from({ length: rows }, (_, i) => `p,${i},${new Date(1e12 + i * HOUR_MS).toISOString()}\n`).join('')}`
  const imported = await client.importNumbers('c', csv(1_001))
  expect(imported).toMatchObject({ stored: 1_000, refused: 1 })
  expect(imported!.rows.at(-1)).toEqual({ line: 1_002, state: 'refused', reason: 'TOO_MANY_NUMBERS', detail: 'p' })
  expect(await code(report('p', { views: 1 }))).toBe('TOO_MANY_NUMBERS')
  expect((await report('p', { views: 1, at: new Date(1e12).toISOString() })).status).toBe(200)
  for (let i = 1; i < MAX_POSTS; i++) await put(`p${i}`, { url: `https://x.com/anna/status/${1e9 + i}` })
  expect(await code(put('last', { url: REEL }))).toBe('TOO_MANY_POSTS')
  expect((await client.listPosts('c'))!.length).toBe(MAX_POSTS)
})

it('concurrent reports are all stored, and survive a restart', async () => {
  const data = createTemporaryFolder()
  const { stats, client } = await openStats({ data, threads: 2 })
  await client.put('c', { videos: [] })
  await client.addPost('c', { url: TIKTOK })
  const times = Array.from({ length: 40 }, (_, i) => new Date(1e12 + i * HOUR_MS).toISOString())
  await Promise.all(times.map((at, views) => client.reportNumbers('c', TIKTOK_ID, { views, at })))
  expect(await client.listPosts('c')).toMatchObject([{ points: 40, numbers: { views: 39 } }])
  const before = await client.getStats('c')
  await stats.stop()
  const again = await openStats({ data, threads: 1 })
  expect((await again.client.getStats('c'))!.reported).toEqual(before!.reported)
  expect((await again.client.listNumbers('c', TIKTOK_ID))!.map(({ at }) => at)).toEqual(times)
})

it('the token of a connector can only report numbers', async () => {
  const { stats } = await openStats({ threads: 1, apiToken: 'all', readToken: 'read', connectorToken: 'connector' })
  const [all, connector] = ['all', 'connector'].map((token) => ({ authorization: `Bearer ${token}` }))
  await stats.put('/collections/c', { videos: [] }, all)
  const path = `/collections/c/posts/${TIKTOK_ID}`
  await stats.put(path, { url: TIKTOK }, all)
  expect((await stats.post(`${path}/numbers`, { views: 3 }, connector)).status).toBe(201)
  const csv = { 'content-type': 'text/csv' }
  const file = `url,views\n${TIKTOK},4\n`
  const target = '/collections/c/reported/numbers'
  expect((await stats.post(target, file, { ...connector, ...csv })).body).toMatchObject({ stored: 1 })
  expect((await stats.post(target, file, { ...all, ...csv })).status).toBe(200)
  const refused = [
    stats.post(`${path}/numbers`, { views: 3 }),
    stats.post(`${path}/numbers`, { views: 3 }, { authorization: 'Bearer read' }),
    stats.get(path.replace(`/${TIKTOK_ID}`, ''), connector),
    stats.get('/collections/c/stats', connector),
    stats.put(path, { url: TIKTOK }, connector),
    stats.post('/collections/c/posts', { url: TIKTOK }, connector),
    stats.delete(path, connector),
    stats.delete('/collections/c', connector),
  ]
  for (const reply of refused) expect((await reply).status).toBe(401)
  const cross = { ...connector, origin: 'https://elsewhere.example' }
  expect((await stats.post(`${path}/numbers`, { views: 3 }, cross)).body.code).toBe('CROSS_SITE')
})
