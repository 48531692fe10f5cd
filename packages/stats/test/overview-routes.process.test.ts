import { createTemporaryFolder } from '@influencer-stats/runtime/testing/temporary-folder'
import { waitUntil } from '@influencer-stats/runtime/testing/wait-until'
import { describe, expect, it, onTestFinished } from 'vitest'
import { listOf, startFakeYoutube, videoIds } from './support/fake-youtube.ts'
import { startStats } from './support/stats.ts'

describe.each(['v3', 'v6', 'v8'])('GET /collections with numbers: %s', (variant) => {
  it('returns the sums, the costs and the growth of a page in one request', async () => {
    const youtube = await startFakeYoutube()
    youtube.handler = (ids, reply) => reply.end(listOf(ids, 2_000))
    const stats = await startStats({ variant, youtubeUri: youtube.url, data: createTemporaryFolder(), dailyBudget: 0 })
    onTestFinished(() => stats.stop().then(() => {}))
    const [a, b, c] = videoIds(3)
    await stats.put('/collections/one', { videos: [a], name: 'Spring <1>', tags: ['x'], cost: 50, currency: 'EUR' })
    await stats.put('/collections/two', { videos: [a, b, c], name: 'Summer', tags: ['x', 'y'], cost: 0 })
    await stats.put('/collections/three', { videos: [] })
    const sums = new Map<string, any>()
    for (const id of ['one', 'two', 'three']) sums.set(id, (await stats.get(`/collections/${id}/stats`)).body)
    const listIds = async (query: string) => (await stats.get(`/collections?${query}`)).body
    const idsOf = async (query: string) => (await listIds(query)).collections.map(({ id }: { id: string }) => id)

    const { collections, next } = await waitUntil(async () => {
      const body = await listIds('include=stats,change&sort=-impressions')
      return body.collections.every(({ change }: any) => change) && body
    })
    expect(next).toBeUndefined()
    expect(collections.map(({ id }: { id: string }) => id)).toEqual(['two', 'one', 'three'])
    for (const { id, stats: rendered, change } of collections) {
      expect(rendered).toMatchObject({ ...sums.get(id), asOf: expect.any(String) })
      expect(change['24h']).toMatchObject({ impressions: 0, engagements: 0, score: 0, since: expect.any(String) })
    }
    expect(collections[1]).toMatchObject({ name: 'Spring <1>', videos: [a], tags: ['x'], cost: 50, currency: 'EUR' })
    expect(collections.map(({ costs }: any) => costs)).toEqual([
      { perThousandViews: 0, perEngagement: 0 },
      { perThousandViews: 25, perEngagement: 50 / 15 },
      undefined,
    ])
    const one = (await stats.get('/collections/one?include=stats,change')).body
    expect({ ...one, stats: { ...one.stats, asOf: '' } }).toEqual({
      ...collections[1],
      stats: { ...collections[1].stats, asOf: '' },
    })
    expect((await stats.get('/collections/one?include=change')).body).not.toHaveProperty('stats')
    expect((await stats.get('/collections/none?include=stats')).body.code).toBe('COLLECTION_NOT_FOUND')

    expect(await idsOf('sort=name')).toEqual(['one', 'two', 'three'])
    expect(await idsOf('sort=-id')).toEqual(['two', 'three', 'one'])
    expect(await idsOf('q=sPRing')).toEqual(['one'])
    expect(await idsOf('tag=x')).toEqual(['one', 'two'])
    expect(await idsOf('tag=x&q=umm&include=stats')).toEqual(['two'])
    expect(await idsOf('tag=X')).toEqual([])
    const first = await listIds('sort=-impressions&limit=2')
    expect(first.collections[0]).not.toHaveProperty('stats')
    expect(await idsOf(`sort=-impressions&limit=2&after=${first.next}`)).toEqual(['three'])
    const wrong = await stats.get('/collections?sort=-impressions&after=one')
    expect(wrong).toMatchObject({ status: 409, body: { code: 'INVALID_CURSOR' } })
    for (const query of ['sort=views', 'include=videos', 'q=a&q=b', `q=${'x'.repeat(201)}`, 'after=a!', 'page=2']) {
      expect(await stats.get(`/collections?${query}`)).toMatchObject({
        status: 400,
        body: { code: 'VALIDATION_FAILED' },
      })
    }
    expect(await listIds('limit=2')).toMatchObject({ collections: [{ id: 'one' }, { id: 'three' }], next: 'three' })
  })
})
