import { createTemporaryFolder } from '@influencer-stats/runtime/testing/temporary-folder'
import { waitUntil } from '@influencer-stats/runtime/testing/wait-until'
import { describe, expect, it, onTestFinished } from 'vitest'
import { listOf, startFakeYoutube, videoIds } from './support/fake-youtube.ts'
import { startStats } from './support/stats.ts'

describe.each(['v3', 'v6', 'v8'])('edits: %s', (variant) => {
  it('are separate from growth, and marked in the history', async () => {
    const youtube = await startFakeYoutube()
    youtube.handler = (ids, reply) => reply.end(listOf(ids, 1_000))
    const settings = {
      variant,
      youtubeUri: youtube.url,
      data: createTemporaryFolder(),
      dailyBudget: 0,
      refreshInterval: 100,
    }
    const stats = await startStats(settings)
    onTestFinished(() => stats.stop().then(() => {}))
    const [a, b, c] = videoIds(3)
    await stats.put('/collections/c', { videos: [a, b] })
    const read = async () => {
      await stats.get('/collections/c/stats')
      return (await stats.get('/collections/c?include=stats,change')).body
    }
    await waitUntil(async () => (await read()).change)
    await stats.delete(`/collections/c/videos/${b}`)
    const one = { videos: 1, impressions: 1_000, engagements: 15, score: 25 }
    const removed = await waitUntil(async () => {
      const { change } = await read()
      expect(change['24h']).toMatchObject({ impressions: 0, engagements: 0, score: 0 })
      return change['24h'].removed
    })
    expect(removed).toEqual(one)
    await stats.put(`/collections/c/videos/${c}`)
    const { change } = await waitUntil(async () => {
      const body = await read()
      expect(body.change['24h']).toMatchObject({ impressions: 0, engagements: 0, score: 0 })
      return body.change['24h'].added && body
    })
    expect(change['7d']).toMatchObject({ added: one, removed: one, young: true })
    const { points } = (await stats.get('/collections/c/stats/history')).body
    expect(points.map(({ added, removed: gone }: any) => ({ ...(added && { added }), ...(gone && { gone }) }))).toEqual(
      [{}, { gone: one }, { added: one }],
    )
    expect(Object.keys(points[0])).toEqual(['at', 'impressions', 'engagements', 'score', 'videos'])
  })
})
