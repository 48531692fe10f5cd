import { waitUntil } from '@influencer-stats/runtime/testing/wait-until'
import { expect, it } from 'vitest'
import { startFakeYoutube, videoIds } from './support/fake-youtube.ts'
import { useNats, startPair } from './support/cluster-node.ts'

const nats = useNats()

it('each node of a cluster restores what another deleted, with its numbers', async () => {
  const youtube = await startFakeYoutube()
  const settings = { youtubeUri: youtube.url, refreshInterval: 3_600_000, threads: 2 }
  const [poller, follower] = await startPair(nats().url, settings)
  const all = [poller, follower]
  await poller.put('/collections/t', { videos: videoIds(3), name: 'T' })
  const { body: before } = await waitUntil(async () => {
    const reply = await follower.get('/collections/t')
    return reply.status === 200 && reply
  })
  await waitUntil(async () => (await follower.get('/collections/t/stats')).body.impressions === 300)
  await waitUntil(async () => (await follower.get('/collections/t/stats/history')).body.points?.length > 0)
  expect((await follower.delete('/collections/t')).status).toBe(204)
  for (const node of all) {
    await waitUntil(async () => (await node.get('/trash')).body.collections.length === 1)
    expect((await node.get('/collections/t/stats')).status).toBe(404)
    expect((await node.get('/collections?include=stats')).body.collections).toEqual([])
  }
  const calls = youtube.calls.length
  const restored = await poller.post('/trash/t/restore')
  expect(restored).toMatchObject({ status: 200, body: { ...before, version: expect.any(String) } })
  expect((await follower.post('/trash/t/restore')).body.code).toBe('NOT_IN_TRASH')
  for (const node of all) {
    await waitUntil(async () => (await node.get('/collections/t/stats')).body.impressions === 300)
    expect((await node.get('/trash')).body.collections).toEqual([])
    expect((await node.get('/collections/t/stats/history')).body.points).toHaveLength(1)
  }
  expect(youtube.calls).toHaveLength(calls)
  await poller.delete('/collections/t')
  expect((await follower.delete('/trash/t')).status).toBe(204)
  expect((await poller.delete('/trash/t')).body.code).toBe('NOT_IN_TRASH')
})
