import type { Overrides } from '@influencer-stats/runtime/embed'
import type { RunningService } from '@influencer-stats/runtime/service-host'
import { createTemporaryFolder } from '@influencer-stats/runtime/testing/temporary-folder'
import { waitUntil } from '@influencer-stats/runtime/testing/wait-until'
import { pino } from 'pino'
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest'
import { failing, listOf, startFakeYoutube, videoIds } from './support/fake-youtube.ts'
import { startKv } from './support/kv.ts'
import { useNats, createStreamName, nodeSettings, startNode } from './support/cluster-node.ts'
import { startOnStandIn, startStats, type TestStats } from './support/stats.ts'

const HOUR_MS = 3_600_000

let kv: RunningService
beforeAll(async () => {
  kv = await startKv()
})
afterAll(() => kv.stop())

/** Starts two upstreams with different numbers: 100 views of each video, and 7. */
async function startUpstreams() {
  const [first, second] = [await startFakeYoutube(), await startFakeYoutube()]
  second.handler = (ids, reply) => reply.end(listOf(ids, 7))
  return { first, second }
}

let tests = 0

describe.each<Overrides>([
  { state: 'level', cache: 'poller' },
  { state: 'level', cache: 'poller', threads: 1 },
  { state: 'level', cache: 'lru' },
  { state: 'kv', cache: 'poller' },
  { state: 'kv', cache: 'lru', threads: 1 },
])('numbers belong to their source, %o', (settings) => {
  it('after a change of the source, and after the return to it', async () => {
    const { first, second } = await startUpstreams()
    const data = createTemporaryFolder()
    const common = { data, kvUri: kv.url, refreshInterval: HOUR_MS, readTimeout: 2_000, ...settings }
    const VIDEOS = videoIds(2, (tests += 10))
    const id = `c-${JSON.stringify(settings).replaceAll(/\W/g, '')}`
    const read = (stats: TestStats) => stats.get(`/collections/${id}/stats`)
    const points = async (stats: TestStats) => (await stats.get(`/collections/${id}/stats/history`)).body.points
    const videoPoints = async (stats: TestStats) =>
      (await stats.get(`/collections/${id}/videos/${VIDEOS[0]}/history`)).body.points
    const row = async (stats: TestStats) => (await stats.get(`/collections/${id}?include=stats,change`)).body

    const onStandIn = await startOnStandIn({ ...common, youtubeUri: first.url })
    await onStandIn.put(`/collections/${id}`, { videos: VIDEOS })
    expect((await read(onStandIn)).body).toMatchObject({ impressions: 200, source: 'stand-in' })
    await waitUntil(async () => (await points(onStandIn)).length === 1 && (await videoPoints(onStandIn)).length === 1)
    await onStandIn.stop()

    second.handler = failing
    const onOther = await startStats({ ...common, youtubeUri: second.url })
    // Invented numbers never replace those of the other API, which has returned none yet.
    expect(await read(onOther)).toMatchObject({ status: 503, body: { code: 'UPSTREAM_UNAVAILABLE' } })
    expect((await onOther.get(`/collections/${id}/export`)).status).toBe(503)
    expect([await points(onOther), await videoPoints(onOther)]).toEqual([[], []])
    const { stats, change } = await row(onOther)
    expect([stats, change]).toEqual([undefined, undefined])
    await onOther.stop()

    second.handler = (ids, reply) => reply.end(listOf(ids, 7))
    const recovered = await startStats({ ...common, youtubeUri: second.url })
    expect((await read(recovered)).body).toMatchObject({ impressions: 14, source: second.url })
    await waitUntil(async () => (await points(recovered)).length === 1 && (await videoPoints(recovered)).length === 1)
    expect((await points(recovered))[0]).toMatchObject({ impressions: 14 })
    expect(await row(recovered)).toMatchObject({
      stats: { impressions: 14, source: second.url },
      change: { '24h': { impressions: 0 } },
    })
    await recovered.stop()

    // Numbers count again once their source returns, and are deleted with their collection.
    first.handler = failing
    const returned = await startOnStandIn({ ...common, youtubeUri: first.url })
    if (settings.cache === 'poller')
      expect((await read(returned)).body).toMatchObject({ impressions: 200, source: 'stand-in' })
    expect((await points(returned)).map(({ impressions }: any) => impressions)).toEqual([200])
    await returned.delete(`/collections/${id}`)
    await returned.put(`/collections/${id}`, { videos: VIDEOS })
    expect(await points(returned)).toEqual([])
    await returned.stop()
    const last = await startStats({ ...common, youtubeUri: second.url })
    second.handler = failing
    expect(await points(last)).toEqual([])
    await last.stop()
  })
})

it('a start states in one line which numbers are not in use', async () => {
  const { first, second } = await startUpstreams()
  const data = createTemporaryFolder()
  const onStandIn = await startOnStandIn({ data, youtubeUri: first.url })
  for (const id of ['a', 'b']) {
    await onStandIn.put(`/collections/${id}`, { videos: videoIds(2) })
    await onStandIn.get(`/collections/${id}/stats`)
  }
  await waitUntil(async () => {
    const ids = ['a/stats', 'b/stats', ...videoIds(2).map((video) => `a/videos/${video}`)]
    const replies = await Promise.all(ids.map((id) => onStandIn.get(`/collections/${id}/history`)))
    return replies.every(({ body }) => body.points.length === 1)
  })
  await onStandIn.stop()
  const lines: string[] = []
  const log = pino({ level: 'info' }, { write: (line: string) => void lines.push(JSON.parse(line).msg) })
  const other = await startStats({ data, youtubeUri: second.url }, log)
  const setApart = () => lines.filter((line) => line.includes('stored separately'))
  await waitUntil(() => setApart().length > 0)
  await other.stop()
  expect(setApart()).toEqual([
    `stats: numbers come from ${second.url}; stored separately: stand-in (2 collections, 4 points)`,
  ])
})

describe('nodes of different sources', () => {
  const nats = useNats()
  const polls = async (node: TestStats) => (await node.get('/node')).body.polling === true

  async function startStandInNode(stream: string, youtubeUri: string, data = createTemporaryFolder()) {
    const node = await startOnStandIn({ data, ...nodeSettings(nats().url, stream), youtubeUri, refreshInterval: 200 })
    onTestFinished(async () => void (await node.stop()))
    return node
  }

  it('one without YOUTUBE_URI never polls, also while the other restarts, and shows no invented number', async () => {
    const { first: standIn, second: youtube } = await startUpstreams()
    const VIDEOS = videoIds(2)
    const [stream, data] = [createStreamName(), createTemporaryFolder()]
    const settings = { data, youtubeUri: youtube.url, refreshInterval: 200, pollerLeaseTtl: 500 }
    const real = await startNode(nats().url, stream, settings)
    await waitUntil(() => polls(real))
    await real.put('/collections/c', { videos: VIDEOS })
    expect((await real.get('/collections/c/stats')).body).toMatchObject({ impressions: 14, source: youtube.url })
    const other = await startStandInNode(stream, standIn.url)
    await real.stop()
    // Longer than a lease takes to expire.
    const restartAt = Date.now() + 3_000
    await waitUntil(async () => {
      expect((await other.get('/collections/c/stats')).body).toMatchObject({ impressions: 14, source: youtube.url })
      return Date.now() > restartAt
    })
    const { body } = await other.get('/node')
    expect(body).toMatchObject({ polling: false, sourceMismatch: { node: 'stand-in', log: youtube.url } })
    expect((await other.get('/metrics')).body).toMatch(/^stats_source_mismatch 1$/m)
    expect((await other.get('/version')).body.source).toBe(youtube.url)
    expect(standIn.calls).toEqual([])
    const restarted = await startNode(nats().url, stream, settings)
    await waitUntil(() => polls(restarted))
    youtube.handler = (ids, reply) => reply.end(listOf(ids, 8))
    for (const node of [restarted, other])
      await waitUntil(async () => (await node.get('/collections/c/stats')).body.impressions === 16)
    expect(standIn.calls).toEqual([])
    expect((await restarted.get('/node')).body.sourceMismatch).toBeUndefined()
    expect((await restarted.get('/metrics')).body).toMatch(/^stats_source_mismatch 0$/m)
  })

  it('a real source replaces the stand-in while its node polls, and that node then follows', async () => {
    const { first: standIn, second: youtube } = await startUpstreams()
    const [stream, VIDEOS] = [createStreamName(), videoIds(2)]
    const invented = await startStandInNode(stream, standIn.url)
    await waitUntil(() => polls(invented))
    await invented.put('/collections/c', { videos: VIDEOS })
    expect((await invented.get('/collections/c/stats')).body).toMatchObject({ impressions: 200, source: 'stand-in' })
    await waitUntil(async () => (await invented.get('/collections/c/stats/history')).body.points.length === 1)
    let isReady = false
    youtube.handler = (ids, reply) => (isReady ? reply.end(listOf(ids, 7)) : failing(ids, reply))
    const settings = { youtubeUri: youtube.url, refreshInterval: 200, readTimeout: 1_000 }
    const real = await startNode(nats().url, stream, settings)
    await waitUntil(() => polls(real))
    await waitUntil(async () => (await invented.get('/node')).body.sourceMismatch?.log === youtube.url)
    // The new source has no numbers yet: all nodes report that, and still accept changes.
    for (const node of [real, invented]) {
      const reply = await waitUntil(async () => {
        const found = await node.get('/collections/c/stats')
        return found.status === 503 && found
      })
      expect(reply.body.code).toBe('UPSTREAM_UNAVAILABLE')
      expect((await node.get('/collections/c/stats/history')).body.points).toEqual([])
      expect((await node.get('/collections/c?include=stats,change')).body).not.toHaveProperty('stats')
    }
    expect((await invented.patch('/collections/c', { name: 'C' })).status).toBe(200)
    expect((await invented.get('/upstream')).body.source).toBe(youtube.url)
    isReady = true
    for (const node of [real, invented]) {
      await waitUntil(async () => (await node.get('/collections/c/stats')).body.impressions === 14)
      // The first point of the history may be stored after the sums are shown.
      const row = await waitUntil(async () => {
        const { body } = await node.get('/collections?include=stats,change')
        return body.collections[0].change && body.collections[0]
      })
      expect(row).toMatchObject({
        name: 'C',
        stats: { impressions: 14, source: youtube.url },
        change: { '24h': { impressions: 0 } },
      })
      expect((await node.get('/version')).body.source).toBe(youtube.url)
    }
    expect([await polls(real), await polls(invented)]).toEqual([true, false])
  })

  it('one API replaces another only with --replace-source, and the stand-in never does', async () => {
    const { first, second } = await startUpstreams()
    const [stream, data] = [createStreamName(), createTemporaryFolder()]
    const key = { youtubeApiKey: 'AIzaSy-a-key-of-one-1111' }
    const one = await startNode(nats().url, stream, { data, youtubeUri: first.url, refreshInterval: 200, ...key })
    await waitUntil(() => polls(one))
    await one.put('/collections/c', { videos: videoIds(1) })
    await waitUntil(async () => (await one.get('/upstream')).body.state === 'ok')
    expect((await one.get('/upstream')).body).toMatchObject({ source: first.url, key: '…1111' })
    second.handler = failing
    const other = await startNode(nats().url, stream, { youtubeUri: second.url, refreshInterval: 200 })
    expect((await other.get('/node')).body.sourceMismatch).toEqual({ node: second.url, log: first.url })
    const named = { youtubeUri: second.url, refreshInterval: 200, replaceSource: 'https://api.example' }
    const mistaken = await startNode(nats().url, stream, named)
    expect((await mistaken.get('/node')).body.source).toBe(first.url)
    const standIn = await startOnStandIn({
      data: createTemporaryFolder(),
      ...nodeSettings(nats().url, stream),
      youtubeUri: first.url,
      replaceSource: first.url,
    })
    onTestFinished(async () => void (await standIn.stop()))
    expect((await standIn.get('/node')).body.source).toBe(first.url)
    const allowed = await startNode(nats().url, stream, { ...named, replaceSource: `${first.url}/` })
    for (const node of [one, other, mistaken, standIn, allowed])
      await waitUntil(async () => (await node.get('/node')).body.source === second.url)
    for (const node of [one, other]) {
      const state = await waitUntil(async () => {
        const { body } = await node.get('/upstream')
        return body.state === 'failing' && body
      })
      expect(state.source).toBe(second.url)
    }
    // Its own key belongs to the other API.
    expect((await one.get('/upstream')).body).not.toHaveProperty('key')
    // Nodes of the same source compete for the lease again without a restart.
    await allowed.stop()
    await waitUntil(async () => (await polls(other)) || (await polls(mistaken)))
    expect(await polls(one)).toBe(false)
  })
})
