import { waitUntil } from '@influencer-stats/runtime/testing/wait-until'
import { expect, it } from 'vitest'
import { channelId, withChannels } from './support/creators.ts'
import { useNats, startPair } from './support/cluster-node.ts'
import { startFakeYoutube, videoIds } from './support/fake-youtube.ts'

const nats = useNats()

it('every node of a cluster has the creators, with the same numbers', async () => {
  const youtube = await startFakeYoutube()
  const videos = videoIds(4)
  youtube.handler = withChannels((video) => (video === videos[0] ? 1 : 2))
  const settings = { youtubeUri: youtube.url, refreshInterval: 3_600_000, threads: 2 }
  const [poller, follower] = await startPair(nats().url, settings)
  const fees = [{ creator: channelId(2), amount: 60 }]
  await follower.put('/collections/c', { videos, fees, currency: 'EUR' })
  for (const node of [poller, follower]) {
    const { creators } = await waitUntil(async () => {
      const { body } = await node.get('/collections/c?include=creators')
      return body.creators?.length === 2 && body.unattributed === undefined && body
    })
    expect(creators).toMatchObject([
      { id: channelId(2), stats: { impressions: 300 }, share: 0.75, fee: 60, costs: { perThousandViews: 200 } },
      { id: channelId(1), stats: { impressions: 100 } },
    ])
    await waitUntil(async () => (await node.get('/creators')).body.creators[0]?.stats.impressions === 300)
    const { body } = await node.get(`/creators/${channelId(1)}`)
    expect(body).toMatchObject({ title: 'Channel 1', videos: [{ id: videos[0], title: `Video ${videos[0]}` }] })
  }
  await poller.delete('/collections/c')
  for (const node of [poller, follower]) await waitUntil(async () => (await node.get('/creators')).body.total === 0)
})
