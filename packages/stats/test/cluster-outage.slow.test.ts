import { startTestNatsServer } from '@influencer-stats/log/testing/nats'
import { startProcessClock } from '@influencer-stats/runtime/testing/process-clock'
import { waitUntil } from '@influencer-stats/runtime/testing/wait-until'
import { describe, expect, it } from 'vitest'
import { createStreamName, isPolling, startNode } from './support/cluster-node.ts'
import { startFakeYoutube, videoIds } from './support/fake-youtube.ts'

describe('without the log', () => {
  it('reads continue and are stale, changes get 503, and all recovers with the log', async () => {
    const own = await startTestNatsServer()
    const youtube = await startFakeYoutube()
    const settings = {
      youtubeUri: youtube.url,
      dailyBudget: 0,
      refreshInterval: 200,
      appendTimeout: 500,
      pollerLeaseTtl: 1_000,
    }
    const node = await startNode(own.url, createStreamName(), settings)
    const waitUntilPut = (path: string, videos: string[]) => {
      let mayExist = false
      return waitUntil(async () => {
        const { status, body } = await node.put(path, { videos })
        // A busy machine may take longer than the time-out.
        mayExist ||= body.code === 'OUTCOME_UNKNOWN'
        return status === 201 || (mayExist && status === 200)
      })
    }
    await waitUntilPut('/collections/c', videoIds(1))
    await waitUntil(async () => (await node.get('/collections/c/stats')).body.stale === false)
    await own.stop()
    // A call that cannot be counted is not made. One call may be counted already, and in flight.
    const largest = youtube.calls.length + 1
    const refused = await waitUntil(async () => {
      const reply = await node.put('/collections/d', { videos: [] })
      return reply.body.code === 'LOG_UNAVAILABLE' && reply
    })
    expect([refused.status, refused.headers.get('retry-after')]).toEqual([503, '1'])
    for (const change of [
      node.patch('/collections/c', { name: 'C' }),
      node.delete('/collections/c'),
      node.delete('/collections/none'),
      node.put(`/collections/c/videos/${videoIds(1)[0]}`),
    ])
      expect((await change).body.code).toBe('LOG_UNAVAILABLE')
    // The node cannot know if there is another poller by now.
    await waitUntil(async () => !(await isPolling(node)))
    const stale = await waitUntil(async () => {
      const reply = await node.get('/collections/c/stats')
      expect(reply.status).toBe(200)
      return reply.body.stale && reply
    })
    expect(stale.body.impressions).toBe(100)
    expect(youtube.calls.length).toBeLessThanOrEqual(largest)
    await own.restart()
    await waitUntilPut('/collections/d', [])
    await waitUntil(async () => (await node.get('/collections/c/stats')).body.stale === false)
  })

  it('a node stops in time', async () => {
    const own = await startTestNatsServer()
    const youtube = await startFakeYoutube()
    const settings = { youtubeUri: youtube.url, dailyBudget: 0, refreshInterval: 100, appendTimeout: 25_000 }
    const node = await startNode(own.url, createStreamName(), settings)
    await node.put('/collections/c', { videos: videoIds(1) })
    await node.get('/collections/c/stats')
    await own.suspend()
    const time = startProcessClock()
    await node.stop()
    expect(time()).toBeLessThan(10_000)
  })
})
