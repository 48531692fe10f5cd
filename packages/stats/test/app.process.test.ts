import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { MAX_VIDEOS } from '../src/core/ids.ts'
import { SAMPLE_TOTALS, SAMPLE_VIDEOS, startStandIn, type TestStandIn } from './support/stand-in.ts'
import { toContent, startStats, type TestStats } from './support/stats.ts'
import { waitUntil } from '@influencer-stats/runtime/testing/wait-until'
import { createTemporaryFolder } from '@influencer-stats/runtime/testing/temporary-folder'

const createIds = (n: number) => Array.from({ length: n }, (_, i) => `${String(i).padStart(10, '0')}A`)

describe('the API', () => {
  let standIn: TestStandIn
  let stats: TestStats
  beforeAll(async () => {
    standIn = await startStandIn()
    stats = await startStats({ youtubeUri: standIn.url, data: createTemporaryFolder() })
  })
  afterAll(async () => {
    await stats.stop()
    await standIn.stop()
  })

  it('creates, replaces, reads and deletes a collection', async () => {
    const videos = [...SAMPLE_VIDEOS, SAMPLE_VIDEOS[0]!]
    const made = await stats.put('/collections/c1', { videos })
    expect(made).toMatchObject({ status: 201, body: { id: 'c1', videos: SAMPLE_VIDEOS } })
    expect(await stats.get('/collections/c1')).toMatchObject({ status: 200, body: { id: 'c1', videos: SAMPLE_VIDEOS } })
    expect(await stats.get('/collections/c1/stats')).toMatchObject({ status: 200, body: SAMPLE_TOTALS })
    expect((await stats.put('/collections/c1', { videos: [] })).status).toBe(200)
    expect(await stats.get('/collections/c1/stats')).toMatchObject({ body: { impressions: 0, videos: 0, missing: [] } })
    expect((await stats.delete('/collections/c1')).status).toBe(204)
    for (const path of ['', '/stats', '/stats?by=video', '/stats/history']) {
      const reply = await stats.get(`/collections/c1${path}`)
      expect(reply).toMatchObject({ status: 404, body: { code: 'COLLECTION_NOT_FOUND' } })
    }
    expect(await stats.delete('/collections/c1')).toMatchObject({ status: 404, body: { code: 'COLLECTION_NOT_FOUND' } })
  })

  it('adds and removes single videos', async () => {
    await stats.put('/collections/c2', { videos: [SAMPLE_VIDEOS[0]] })
    expect((await stats.put(`/collections/c2/videos/${SAMPLE_VIDEOS[1]}`)).status).toBe(201)
    const again = await stats.put(`/collections/c2/videos/${SAMPLE_VIDEOS[1]}`)
    expect(again).toMatchObject({ status: 200, body: { videos: SAMPLE_VIDEOS.slice(0, 2) } })
    expect(await stats.get('/collections/c2/stats')).toMatchObject({ body: { impressions: 2 * 261_734 } })
    expect((await stats.delete(`/collections/c2/videos/${SAMPLE_VIDEOS[0]}`)).status).toBe(204)
    expect(await stats.get('/collections/c2/stats')).toMatchObject({ body: { impressions: 261_734 } })
    const removed = await stats.delete(`/collections/c2/videos/${SAMPLE_VIDEOS[0]}`)
    expect(removed).toMatchObject({ status: 404, body: { code: 'VIDEO_NOT_IN_COLLECTION' } })
    const unknownPath = await stats.put(`/collections/none/videos/${SAMPLE_VIDEOS[0]}`)
    expect(unknownPath).toMatchObject({ status: 404, body: { code: 'COLLECTION_NOT_FOUND' } })
  })

  it('accepts a thousand videos and not one more', async () => {
    const videos = createIds(MAX_VIDEOS)
    expect((await stats.put('/collections/full', { videos })).status).toBe(201)
    expect(await stats.put('/collections/full/videos/zzzzzzzzzzz')).toMatchObject({
      status: 409,
      body: { code: 'COLLECTION_FULL' },
    })
    expect((await stats.get('/collections/full/stats')).body.videos).toBe(MAX_VIDEOS)
    expect((await stats.put('/collections/more', { videos: [...videos, 'zzzzzzzzzzz'] })).status).toBe(400)
    expect((await stats.get('/collections/more')).status).toBe(404)
    await stats.delete('/collections/full')
  })

  it('lists collections page by page', async () => {
    const ids = ['p1', 'p2', 'p3', 'p4', 'p5']
    for (const id of ids) await stats.put(`/collections/${id}`, { videos: [] })
    const seen: string[] = []
    for (let next: string | undefined = 'p'; next;) {
      const { body }: { body: any } = await stats.get(`/collections?limit=2&after=${next}`)
      seen.push(...body.collections.map(({ id }: { id: string }) => id))
      next = body.next
    }
    expect(seen).toEqual(ids)
    for (const query of ['limit=0', 'limit=201', 'limit=2.5', 'limit=x', 'after=', 'after=a!', 'other=1']) {
      expect(await stats.get(`/collections?${query}`)).toMatchObject({
        status: 400,
        body: { code: 'VALIDATION_FAILED' },
      })
    }
  })

  it('lists the videos that YouTube does not return', async () => {
    await stats.put('/collections/c3', { videos: [SAMPLE_VIDEOS[0], 'not_there__'] })
    const { body } = await stats.get('/collections/c3/stats?by=video')
    expect(body).toMatchObject({ videos: 1, missing: ['not_there__'] })
    expect(body.byVideo).toEqual([
      { id: SAMPLE_VIDEOS[0], views: 261_734, likes: 14_237, comments: 451, dislikes: 928 },
    ])
  })

  it('returns the history between two times, at most one point per step', async () => {
    await stats.put('/collections/h', { videos: [SAMPLE_VIDEOS[0]] })
    await stats.get('/collections/h/stats')
    await stats.put(`/collections/h/videos/${SAMPLE_VIDEOS[1]}`)
    await stats.get('/collections/h/stats')
    const { body } = await waitUntil(async () => {
      const reply = await stats.get('/collections/h/stats/history')
      return reply.body.points.length === 2 && reply
    })
    expect(body.points.map(({ impressions }: { impressions: number }) => impressions)).toEqual([261_734, 523_468])
    const after = new Date(Date.parse(body.points[0].at) + 1).toISOString()
    // The edits of a point are those since the previous point in the reply.
    const { added, ...second } = body.points[1]
    expect(added).toMatchObject({ videos: 1, impressions: 261_734 })
    expect((await stats.get(`/collections/h/stats/history?from=${after}`)).body.points).toEqual([second])
    expect((await stats.get(`/collections/h/stats/history?to=${body.points[0].at}`)).body.points).toHaveLength(1)
    expect((await stats.get('/collections/h/stats/history?step=86400')).body.points.length).toBeLessThanOrEqual(2)
    for (const query of ['from=yesterday', 'to=2026-13-01T00:00:00Z', 'step=0', 'step=a', 'by=video']) {
      expect((await stats.get(`/collections/h/stats/history?${query}`)).status).toBe(400)
    }
  })

  it.each([
    ['not JSON', '{"videos":[', 'BAD_JSON'],
    ['empty', '', 'VALIDATION_FAILED'],
    ['a list', [], 'VALIDATION_FAILED'],
    ['without videos', {}, 'VALIDATION_FAILED'],
    ['with videos that are no list', { videos: SAMPLE_VIDEOS[0] }, 'VALIDATION_FAILED'],
    ['with numbers for ids', { videos: [12_345_678_901] }, 'VALIDATION_FAILED'],
    ['with an id that is none', { videos: ['short'] }, 'VALIDATION_FAILED'],
    ['with more than it should have', { videos: [], rank: 'x' }, 'VALIDATION_FAILED'],
    ['with 1,001 videos', { videos: createIds(1_001) }, 'VALIDATION_FAILED'],
  ])('refuses a body that is %s without a change', async (_, body, code) => {
    const videos = [SAMPLE_VIDEOS[2]]
    await stats.put('/collections/kept', { videos })
    const refused = await stats.put('/collections/kept', body)
    expect([code, 'BAD_JSON']).toContain(refused.body.code)
    expect(refused).toMatchObject({ status: 400, body: { status: 400, title: expect.any(String) } })
    expect(toContent((await stats.get('/collections/kept')).body)).toEqual({ id: 'kept', videos })
  })

  it('refuses invalid ids, an id of a megabyte, and a body over the limit', async () => {
    const videos = SAMPLE_VIDEOS
    expect((await stats.put('/collections/a%20b', { videos })).status).toBe(400)
    expect((await stats.put(`/collections/${'x'.repeat(129)}`, { videos })).status).toBe(400)
    expect((await stats.put('/collections/c/videos/short', undefined)).status).toBe(400)
    expect((await stats.put(`/collections/${'x'.repeat(1_000_000)}`, { videos })).status).toBe(414)
    const large = await stats.put('/collections/large', { videos: [], padding: 'x'.repeat(1_100_000) })
    expect(large).toMatchObject({ status: 413, body: { code: 'BODY_TOO_LARGE' } })
    expect((await stats.get('/collections/large')).status).toBe(404)
  })

  it('reports quota and collections in its metrics', async () => {
    const { body } = await stats.get('/metrics')
    expect(body).toMatch(/^stats_quota_units_used [1-9]/m)
    expect(body).toMatch(/^stats_quota_units_budget 10000$/m)
    expect(body).toMatch(/^stats_collections [1-9]/m)
    expect(body).toMatch(/^stats_refresh_interval_seconds \d/m)
  })
})
