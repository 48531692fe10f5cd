import { readFormatFile } from '@influencer-stats/runtime/testing/read-format'
import { cpSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { openLevel } from '@influencer-stats/runtime/level'
import { createTemporaryFolder } from '@influencer-stats/runtime/testing/temporary-folder'
import { expect, it } from 'vitest'
import { startFakeYoutube } from './support/fake-youtube.ts'
import { toContent, startStats } from './support/stats.ts'

const TIMESTAMP = Date.UTC(2026, 10, 20, 12)
const HOUR_MS = 3_600_000

/**
 * Creates a copy of a folder of an old format: 20 collections, all but the last with numbers; half in a table, half in a
 * log. That of format 2 was written by the released version 0.2.0.
 */
function createOldFolder(format: 1 | 2): string {
  const folder = createTemporaryFolder()
  cpSync(fileURLToPath(new URL(`./fixtures/format-${format}`, import.meta.url)), folder, { recursive: true })
  return folder
}

it('a folder of format 1 is opened with all its data', async () => {
  const data = createOldFolder(1)
  const youtube = await startFakeYoutube()
  youtube.handler = (_, reply) => reply.writeHead(503).end('{}')
  for (let start = 0; start < 2; start++) {
    const stats = await startStats({ data, youtubeUri: youtube.url, historyDays: 3_650 })
    const { collections } = (await stats.get('/collections?limit=200')).body
    expect(collections).toHaveLength(20)
    for (const [i, collection] of collections.entries()) {
      const id = `old-${String(i).padStart(2, '0')}`
      const videoId = `${String(i).padStart(10, '0')}A`
      expect(toContent(collection)).toEqual({ id, videos: ['-4lB5EKS5Uk', videoId, 'gone_video_'] })
      if (i === 19) continue
      const { body } = await stats.get(`/collections/${id}/stats?by=video`)
      expect(body).toMatchObject({ impressions: 1_004 + i, engagements: 32, score: 52, videos: 2 })
      expect(body.missing).toEqual(['gone_video_'])
      const { points } = (await stats.get(`/collections/${id}/stats/history`)).body
      expect(points.map(({ at, impressions }: any) => [Date.parse(at), impressions])).toEqual(
        [0, 1, 2, 3, 4].map((hour) => [TIMESTAMP + hour * HOUR_MS, 1_000 + hour + i]),
      )
    }
    expect((await stats.patch('/collections/old-00', { name: 'New' })).status).toBe(200)
    await stats.stop()
    expect(readFormatFile(data)).toEqual({ service: 'stats', format: 3 })
    const again = await startStats({ data, youtubeUri: youtube.url })
    expect((await again.get('/collections/old-00')).body.name).toBe('New')
    await again.patch('/collections/old-00', { name: null })
    await again.stop()
  }
})

it('a folder of version 0.2.0 is opened with all its data, and accepts changes', async () => {
  const data = createOldFolder(2)
  const youtube = await startFakeYoutube()
  youtube.handler = (_, reply) => reply.writeHead(503).end('{}')
  const settings = { data, youtubeUri: youtube.url, historyDays: 3_650 }
  const stats = await startStats(settings)
  const { collections } = (await stats.get('/collections?limit=200&include=stats')).body
  expect(collections).toHaveLength(20)
  for (const [i, { stats: sums, costs: _costs, ...collection }] of collections.entries()) {
    const id = `old-${String(i).padStart(2, '0')}`
    const video = `${String(i).padStart(10, '0')}A`
    const fields = { name: `Campaign ${i}`, tags: ['old'], cost: i, currency: 'EUR' }
    expect(toContent(collection)).toEqual({ id, videos: ['-4lB5EKS5Uk', video, 'gone_video_'], ...fields })
    if (i === 19) continue
    expect(sums).toMatchObject({ impressions: 1_002 + i, videos: 2, missing: ['gone_video_'] })
    const { points } = (await stats.get(`/collections/${id}/stats/history`)).body
    expect(points.map(({ at, impressions }: any) => [Date.parse(at), impressions])).toEqual(
      [0, 1, 2].map((hour) => [TIMESTAMP + hour * HOUR_MS, 1_000 + hour + i]),
    )
    const { videos } = (await stats.get(`/collections/${id}/videos`)).body
    expect(videos[1]).toMatchObject({ id: video, title: `Video ${i}`, channel: 'Channel', views: i })
    expect((await stats.get(`/collections/${id}/videos/${video}/history`)).body.points).toHaveLength(1)
  }
  expect((await stats.patch('/collections/old-00', { name: 'New' })).status).toBe(200)
  expect((await stats.delete('/collections/old-01')).status).toBe(204)
  await stats.stop()
  const again = await startStats(settings)
  expect((await again.get('/collections/old-00')).body.name).toBe('New')
  expect((await again.get('/collections/old-01')).status).toBe(404)
  await again.stop()
})

it('a folder of format 2 is refused by a version that knows only format 1', async () => {
  const data = createOldFolder(1)
  const stats = await startStats({ data, youtubeUri: 'http://127.0.0.1:9' })
  await stats.stop()
  await expect(openLevel(data, { service: 'stats', format: 1 })).rejects.toMatchObject({ code: 'DATA_NEWER' })
})
