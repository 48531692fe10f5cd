import { createTemporaryFolder } from '@influencer-stats/runtime/testing/temporary-folder'
import { waitUntil } from '@influencer-stats/runtime/testing/wait-until'
import { expect, it, onTestFinished } from 'vitest'
import { createStatsClient } from '../src/client.ts'
import { startFakeYoutube, videoIds } from './support/fake-youtube.ts'
import { startStats } from './support/stats.ts'

it('a copy has all fields but the archive, and a history of its own', async () => {
  const youtube = await startFakeYoutube()
  const stats = await startStats({ data: createTemporaryFolder(), youtubeUri: youtube.url, refreshInterval: 3_600_000 })
  onTestFinished(async () => void (await stats.stop()))
  const client = createStatsClient(stats.url)
  const content = {
    videos: videoIds(3),
    name: 'Spring',
    tags: ['drinks'],
    from: '2026-03-01',
    to: '2026-05-31',
    fees: [{ creator: 'Anna', amount: 100 }],
    currency: 'EUR',
    sources: [{ type: 'playlist' as const, id: 'PLAAAAAAAAAAAAAAAA', contains: ['drink'] }],
  }
  await client.put('a', { ...content, archived: true })
  const before = await client.get('a')
  const copy = (await client.duplicate('a', 'Spring (copy)'))!
  expect(copy).toEqual({
    ...content,
    name: 'Spring (copy)',
    id: expect.stringMatching(/^[0-9a-f-]{36}$/),
    version: expect.any(String),
    created: expect.any(String),
  })
  expect(await client.get('a')).toEqual(before)
  await waitUntil(async () => (await client.getStats(copy.id))!.impressions === 300)
  expect((await client.getHistory(copy.id))!.length).toBeLessThanOrEqual(1)
  // A change of the copy does not change the original.
  await client.patch(copy.id, { videos: [] })
  expect((await client.get('a'))!.videos).toEqual(content.videos)
  expect((await client.duplicate(copy.id))!.name).toBe('Spring (copy)')
  expect(await client.duplicate('none')).toBeUndefined()
})
