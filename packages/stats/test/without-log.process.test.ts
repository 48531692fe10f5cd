import { startTestNatsServer } from '@influencer-stats/log/testing/nats'
import { createTemporaryFolder } from '@influencer-stats/runtime/testing/temporary-folder'
import { waitUntil } from '@influencer-stats/runtime/testing/wait-until'
import { expect, it } from 'vitest'
import { createStreamName, isPolling, startNode } from './support/cluster-node.ts'
import { startFakeYoutube, videoIds } from './support/fake-youtube.ts'

it('a node with state serves reads without its servers, and polls again with them', async () => {
  const server = await startTestNatsServer()
  const youtube = await startFakeYoutube()
  const settings = { youtubeUri: youtube.url, pollerLeaseTtl: 1_000, data: createTemporaryFolder() }
  const stream = createStreamName()
  const first = await startNode(server.url, stream, settings)
  expect((await first.put('/collections/c', { videos: videoIds(1) })).status).toBe(201)
  await waitUntil(async () => (await first.get('/collections/c/stats')).status === 200)
  await first.stop()
  await server.stop()
  const node = await startNode(server.url, stream, settings)
  expect((await node.get('/collections/c')).status).toBe(200)
  expect((await node.get('/readyz')).body).toMatchObject({ status: 'ready', writes: { code: 'NATS_UNREACHABLE' } })
  expect((await node.put('/collections/d', { videos: [] })).body).toMatchObject({
    code: 'LOG_UNAVAILABLE',
    detail: 'NATS_UNREACHABLE',
  })
  await server.restart()
  await waitUntil(() => isPolling(node))
  expect((await node.put('/collections/d', { videos: [] })).status).toBe(201)
})
