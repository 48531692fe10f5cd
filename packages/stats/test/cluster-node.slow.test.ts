import { startTestNatsServer } from '@influencer-stats/log/testing/nats'
import type { Overrides } from '@influencer-stats/runtime/embed'
import { embed } from '@influencer-stats/runtime/embed'
import { createTemporaryFolder } from '@influencer-stats/runtime/testing/temporary-folder'
import { waitUntil } from '@influencer-stats/runtime/testing/wait-until'
import { sse } from '@influencer-stats/sse/service'
import { describe, expect, it, onTestFinished } from 'vitest'
import { failing, listOf, numbers, startFakeYoutube, videoIds, type FakeYoutube } from './support/fake-youtube.ts'
import { useNats, createStreamName, isPolling, openNodeState, startNode } from './support/cluster-node.ts'
import { startStats, type TestStats } from './support/stats.ts'

const nats = useNats()

const HOUR_MS = 3_600_000

/** Nodes that share a log and a YouTube, in the order in which they poll. */
async function openNodes(count: number, settings: Overrides = {}, stream = createStreamName()) {
  const youtube = await startFakeYoutube()
  const all: TestStats[] = []
  for (let i = 0; i < count; i++) {
    all.push(await startNode(nats().url, stream, { youtubeUri: youtube.url, refreshInterval: HOUR_MS, ...settings }))
    if (i === 0) await waitUntil(() => isPolling(all[0]!))
  }
  return { youtube, stream, all, poller: all[0]!, follower: all[1]! }
}

const countRequestedIds = ({ calls }: FakeYoutube) => calls.flat().length

async function readMetric(node: TestStats, name: string): Promise<number> {
  const { body } = await node.get('/metrics')
  return Number(new RegExp(`^${name} (\\S+)$`, 'm').exec(body)?.[1])
}

describe('nodes of stats', () => {
  it('have one poller, and all serve its numbers', async () => {
    const { youtube, all } = await openNodes(3, { dailyBudget: 0, refreshInterval: 300, threads: 1 })
    expect(await Promise.all(all.map(isPolling))).toEqual([true, false, false])
    expect(await Promise.all(all.map((node) => readMetric(node, 'stats_poller_leader')))).toEqual([1, 0, 0])
    expect((await all[1]!.put('/collections/c', { videos: videoIds(60), name: 'Spring' })).status).toBe(201)
    for (const node of all) {
      const reply = await waitUntil(async () => {
        const found = await node.get('/collections/c/stats')
        // On a busy machine, numbers may exceed two intervals for a moment.
        return found.status === 200 && !found.body.stale && found
      })
      expect(reply.body).toMatchObject({ impressions: 6_000, videos: 60, missing: [] })
      expect((await node.get('/collections/c')).body.name).toBe('Spring')
    }
    youtube.handler = (ids, reply) => reply.end(listOf(ids.slice(1), 200))
    for (const node of all) {
      const { body } = await waitUntil(async () => {
        const found = await node.get('/collections/c/stats')
        // Videos that YouTube no longer returns.
        return found.body.gone?.length > 1 && found
      })
      expect(body.impressions).toBeGreaterThan(11_000)
    }
    const histories = await Promise.all(all.map((node) => node.get('/collections/c/stats/history')))
    expect(histories.map(({ body }) => body.points.length > 1)).toEqual([true, true, true])
    const results = await Promise.all(all.map((node) => node.get('/collections/c/results?zone=Europe/Berlin')))
    const known = { state: 'running', growth: expect.anything(), start: { videos: 60 }, end: { videos: 60 } }
    for (const { body } of results) expect(body).toMatchObject(known)
    const rows = await Promise.all(all.map((node) => node.get('/collections?include=stats,change')))
    for (const { body } of rows) expect(body.collections[0].stats.videos).toBe(60)
  })

  it('all report an outage that the poller detects, and its end', async () => {
    const { youtube, all, follower } = await openNodes(2, { dailyBudget: 0, refreshInterval: 300 })
    const body = JSON.stringify({ error: { errors: [{ reason: 'rateLimitExceeded' }] } })
    youtube.handler = (_, reply) => reply.writeHead(429, { 'retry-after': '2' }).end(body)
    await follower.put('/collections/c', { videos: videoIds(1) })
    const states = await Promise.all(
      all.map((node) =>
        waitUntil(async () => {
          const { body: state } = await node.get('/upstream')
          return state.state === 'paused' && state
        }),
      ),
    )
    for (const state of states)
      expect(state).toMatchObject({ reason: 'rateLimitExceeded', retryAt: expect.any(String) })
    const refused = await follower.get('/collections/c/stats')
    expect(refused).toMatchObject({ status: 503, body: { reason: 'rateLimitExceeded', remedy: expect.any(String) } })
    youtube.handler = numbers
    for (const node of all) await waitUntil(async () => (await node.get('/upstream')).body.state === 'ok')
  })

  it('request at once the videos of a read on any node, each video once', async () => {
    // At this pace the poller requests only videos for which a read waits.
    const { youtube, poller, follower } = await openNodes(2, { dailyBudget: 100 })
    for (const node of [follower, poller]) {
      const id = node === poller ? 'p' : 'f'
      await node.put(`/collections/${id}`, { videos: videoIds(50) })
      const found = await Promise.all(Array.from({ length: 20 }, () => node.get(`/collections/${id}/stats`)))
      expect(new Set(found.map(({ status }) => status))).toEqual(new Set([200]))
    }
    expect(countRequestedIds(youtube)).toBe(50)
  })

  it('report at once, on every node, that first numbers are unavailable', async () => {
    const { youtube, all, stream } = await openNodes(2, { readTimeout: 60_000, dailyBudget: 100 })
    youtube.handler = failing
    const [poller, follower] = all as [TestStats, TestStats]
    await follower.put('/collections/c', { videos: videoIds(1) })
    expect((await follower.get('/collections/c/stats')).body.code).toBe('UPSTREAM_UNAVAILABLE')
    expect((await poller.get('/collections/c/stats')).body.code).toBe('UPSTREAM_UNAVAILABLE')
    const calls = youtube.calls.length
    // A node that was absent at the time of the failure.
    const late = await startNode(nats().url, stream, { youtubeUri: youtube.url, readTimeout: 60_000 })
    const reply = await late.get('/collections/c/stats')
    expect([reply.status, reply.body.code, reply.headers.has('retry-after')]).toEqual([
      503,
      'UPSTREAM_UNAVAILABLE',
      true,
    ])
    expect(youtube.calls.length).toBe(calls)
  })

  it('lose no concurrent changes of one collection on all nodes', async () => {
    const { all } = await openNodes(3)
    await all[0]!.put('/collections/d', { videos: [] })
    const ids = videoIds(45)
    const added = await Promise.all(ids.map((id, i) => all[i % 3]!.put(`/collections/d/videos/${id}`)))
    expect(new Set(added.map(({ status }) => status))).toEqual(new Set([201]))
    for (const node of all)
      await waitUntil(async () => (await node.get('/collections/d')).body.videos?.length === ids.length)
    expect((await all[2]!.get('/collections/d')).body.videos.toSorted()).toEqual(ids)
    const removed = await Promise.all(ids.map((id, i) => all[(i + 1) % 3]!.delete(`/collections/d/videos/${id}`)))
    expect(new Set(removed.map(({ status }) => status))).toEqual(new Set([204]))
  })

  it('refuse and accept a change by all earlier changes on any node', async () => {
    const { poller, follower } = await openNodes(2)
    for (let i = 0; i < 10; i++) {
      expect((await poller.put('/collections/e', { videos: [] })).status).toBe(201)
      expect((await follower.patch('/collections/e', { name: 'E' })).status).toBe(200)
      expect((await poller.delete('/collections/e')).status).toBe(204)
      expect((await follower.delete('/collections/e')).status).toBe(404)
      expect((await follower.put('/collections/e/videos/-4lB5EKS5Uk')).body.code).toBe('COLLECTION_NOT_FOUND')
    }
  })

  it('show a change after its reply to the next read on every thread', async () => {
    const { follower } = await openNodes(2, { threads: 3 })
    await follower.put('/collections/all', { videos: videoIds(3) })
    await follower.get('/collections/all/stats')
    for (let round = 0; round < 8; round++) {
      const count = 1 + (round % 3)
      await follower.put('/collections/c', { videos: videoIds(count) })
      const replies = await Promise.all(
        Array.from({ length: 24 }, () => follower.get('/collections/c/stats', { connection: 'close' })),
      )
      expect(new Set(replies.map(({ body }) => body.videos))).toEqual(new Set([count]))
    }
  })

  it('follow another poller after they lose the lease', async () => {
    const own = await startTestNatsServer()
    const youtube = await startFakeYoutube()
    // Long enough that a node loses the lease only by the suspension here, however busy the machine is.
    const settings = { youtubeUri: youtube.url, dailyBudget: 0, refreshInterval: 200, pollerLeaseTtl: 2_000 }
    const stream = createStreamName()
    const [one, other] = [await startNode(own.url, stream, settings), await startNode(own.url, stream, settings)]
    await waitUntil(() => isPolling(one))
    await one.put('/collections/c', { videos: videoIds(1) })
    await one.get('/collections/c/stats')
    // The first node to request the lease after the resumption gets it.
    while (!(await isPolling(other))) {
      await own.suspend()
      await waitUntil(async () => !(await isPolling(one)))
      own.resume()
      await waitUntil(async () => (await isPolling(one)) || (await isPolling(other)))
    }
    youtube.handler = (ids, reply) => reply.end(listOf(ids, 777))
    for (const node of [other, one])
      await waitUntil(async () => (await node.get('/collections/c/stats')).body.impressions === 777)
    expect(await isPolling(one)).toBe(false)
  })

  it('count the quota as one, and the next poller continues the count', async () => {
    const { youtube, all, poller } = await openNodes(3, { dailyBudget: 4, readTimeout: 2_000 })
    for (let i = 0; i < 3; i++) {
      await all[i]!.put(`/collections/c${i}`, { videos: videoIds(1, i) })
      await waitUntil(async () => (await all[i]!.get(`/collections/c${i}/stats`)).status === 200)
    }
    for (const node of all) await waitUntil(async () => (await readMetric(node, 'stats_quota_units_used')) === 3)
    await poller.stop()
    const next = await waitUntil(async () => {
      for (const node of all.slice(1)) if (await isPolling(node)) return node
      return undefined
    })
    await next.put('/collections/c3', { videos: videoIds(1, 3) })
    await waitUntil(async () => (await next.get('/collections/c3/stats')).status === 200)
    await next.put('/collections/c4', { videos: videoIds(1, 4) })
    expect((await next.get('/collections/c4/stats')).status).toBe(503)
    expect(youtube.calls).toHaveLength(4)
    for (const node of all.slice(1))
      await waitUntil(async () => (await readMetric(node, 'stats_quota_units_used')) === 4)
  })

  it('request no fresh video again after a takeover, only videos for which a read waits', async () => {
    const { youtube, all, poller, follower } = await openNodes(2, { dailyBudget: 100, readTimeout: 60_000 })
    await follower.put('/collections/c', { videos: videoIds(50) })
    await follower.get('/collections/c/stats')
    let isHeld = true
    youtube.handler = (ids, reply) => (isHeld ? undefined : numbers(ids, reply))
    await follower.put('/collections/new', { videos: videoIds(1, 900) })
    const waiting = follower.get('/collections/new/stats')
    await waitUntil(() => youtube.calls.length === 2)
    isHeld = false
    await poller.stop()
    expect((await waiting).status).toBe(200)
    expect(await isPolling(all[1]!)).toBe(true)
    expect(youtube.calls.map((ids) => ids.length)).toEqual([50, 1, 1])
  })

  it('publish numbers to the broadcaster once, from the poller', async () => {
    const broadcaster = await embed(sse)
    onTestFinished(async () => void (await broadcaster.stop()))
    const { all, poller, follower } = await openNodes(2, { sseUri: broadcaster.url })
    await follower.put('/collections/c', { videos: videoIds(1) })
    await waitUntil(async () => (await readMetric(poller, 'stats_publish_total')) === 1)
    await waitUntil(async () => (await follower.get('/collections/c/stats')).status === 200)
    expect(await readMetric(follower, 'stats_publish_total')).toBe(0)
    await poller.stop()
    await waitUntil(() => isPolling(follower))
    // A broadcaster may have lost all values.
    await waitUntil(async () => (await readMetric(all[1]!, 'stats_publish_total')) === 1)
  })

  it('persist their data, restart with them, and leave the database of a standalone service unchanged', async () => {
    const youtube = await startFakeYoutube()
    const data = createTemporaryFolder()
    const settings = { youtubeUri: youtube.url, data }
    const alone = await startStats(settings)
    await alone.put('/collections/alone', { videos: [] })
    await alone.stop()
    const stream = createStreamName()
    const first = await startNode(nats().url, stream, settings)
    expect((await first.get('/collections')).body.collections).toEqual([])
    await first.put('/collections/shared', { videos: videoIds(1) })
    expect((await first.get('/collections/shared/stats')).status).toBe(200)
    await first.stop()
    const again = await startNode(nats().url, stream, settings)
    expect((await again.get('/collections/shared/stats')).body.impressions).toBe(100)
    await again.stop()
    const back = await startStats(settings)
    expect((await back.get('/collections')).body.collections.map(({ id }: { id: string }) => id)).toEqual(['alone'])
    expect((await back.get('/node')).status).toBe(404)
    await back.stop()
    expect(youtube.calls).toHaveLength(1)
  })

  it('start from a snapshot after the log was trimmed', async () => {
    const { poller, stream, youtube } = await openNodes(1)
    for (let i = 0; i < 30; i++) await poller.put(`/collections/c${i}`, { videos: videoIds(1) })
    expect((await poller.get('/collections/c29/stats')).status).toBe(200)
    await poller.stop()
    const { log, state } = await openNodeState(nats().url, stream)
    await log.trim(await log.snapshot())
    await state.close()
    const late = await startNode(nats().url, stream, { youtubeUri: youtube.url })
    expect((await late.get('/collections?limit=100')).body.collections).toHaveLength(30)
    expect((await late.get('/collections/c0/stats')).body.impressions).toBe(100)
  })

  it.each<Overrides>([{ state: 'map' }, { cache: 'lru' }, { state: 'kv' }])(
    'refuse what cannot be shared: %o',
    async (settings) => {
      await expect(
        startNode(nats().url, createStreamName(), { youtubeUri: 'http://127.0.0.1:9', ...settings }),
      ).rejects.toMatchObject({
        code: 'SETTINGS_WRONG',
      })
    },
  )
})
