import { measureLongestHold } from '@influencer-stats/runtime/testing/longest-hold'
import { expect, it } from 'vitest'
import { CREATOR_SORTS } from '../src/campaigns/creators/creator-selection.ts'
import { channelId, createIndex } from './support/creators.ts'
import { videoIds } from './support/fake-youtube.ts'
import { createNumbers } from './support/video-numbers.ts'

it('10,000 videos of 300 creators take less than 500 ms, in pieces with other work between them', async () => {
  const videos = videoIds(10_000)
  const numbers = videos.map((id, i) => createNumbers(id, (i * 7_919) % 100_003))
  const channelOf = new Map(videos.map((id, i) => [id, i % 300]))
  const campaigns = Array.from({ length: 500 }, (_, i) => ({
    id: `c${i}`,
    // Every video is in two campaigns.
    videos: [...videos.slice(i * 20, i * 20 + 20), ...videos.slice(((i + 7) % 500) * 20, ((i + 7) % 500) * 20 + 20)],
    fees: [{ creator: channelId(i % 300), amount: i }],
  }))
  const channels = Array.from({ length: 300 }, (_, i) => ({ id: channelId(i), title: `Channel ${i}`, asOf: 1 }))
  const { index } = createIndex({ campaigns, numbers, channels, getChannel: (id) => channelOf.get(id) })
  for (const sort of CREATOR_SORTS) {
    const before = process.threadCpuUsage()
    const { result, held } = await measureLongestHold(() => index.getPage({ sort, limit: 50 }))
    const { user, system } = process.threadCpuUsage(before)
    expect(result.total).toBe(300)
    expect(result.rows).toHaveLength(50)
    expect((user + system) / 1_000).toBeLessThan(500)
    expect(held).toBeLessThan(250)
  }
})
