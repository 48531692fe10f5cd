import { waitUntil } from '@influencer-stats/runtime/testing/wait-until'
import { expect, it, onTestFinished } from 'vitest'
import { isPolling, useNats, startPair } from './support/cluster-node.ts'
import { SAMPLE_CHANNEL as channel, SAMPLE_PLAYLIST, startStandIn } from './support/stand-in.ts'
import type { TestStats } from './support/stats.ts'

const nats = useNats()
const NOON = Date.UTC(2026, 2, 10, 12)

const getVideos = async (node: TestStats): Promise<string[]> => (await node.get('/collections/c')).body.videos
const getReads = async (node: TestStats): Promise<number> =>
  (await node.get('/upstream')).body.budget.kinds.playlistItems

it('the next poller of a cluster follows the sources from where the last one stopped', async () => {
  const standIn = await startStandIn()
  onTestFinished(async () => void (await standIn.stop()))
  await standIn.control.freezeClock(NOON)
  const settings = { youtubeUri: standIn.url, sourceInterval: 100, sseUri: '', pollerLeaseTtl: 1_000, dailyBudget: 0 }
  const [first, second] = await startPair(nats().url, settings)
  const sources = [{ type: 'channel', id: channel.id, title: channel.title, contains: ['#spring'] }]
  const campaign = { videos: [], from: '2026-03-10', to: '2099-12-31', sources }
  expect((await second.put('/collections/c', campaign)).status).toBe(201)
  const upload = (id: string) =>
    standIn.control.addUploads({ channel: channel.id, videos: [{ id, title: `#spring ${id}` }] })
  await upload('upload-1111')
  await upload('upload-2222')
  for (const node of [first, second]) await waitUntil(async () => (await getVideos(node)).length === 2)
  // The follower removes one; the poller never adds it again.
  expect((await second.delete('/collections/c/videos/upload-1111')).status).toBe(204)
  const before = await getReads(first)
  await waitUntil(async () => (await getReads(first)) > before + 2)
  // The follower made none of these calls: every call is one of the poller, which the log has counted.
  const { playlistItems } = await standIn.control.getCounts()
  expect(playlistItems).toBeLessThanOrEqual(await getReads(first))
  await first.stop()
  await waitUntil(() => isPolling(second))
  await upload('upload-3333')
  await waitUntil(async () => (await getVideos(second)).includes('upload-3333'))
  const collection = (await second.get('/collections/c')).body
  expect(collection).toMatchObject({
    videos: ['upload-2222', 'upload-3333'],
    refused: ['upload-1111'],
    followed: { 'upload-2222': channel.id, 'upload-3333': channel.id },
  })
  expect(await getReads(second)).toBeGreaterThanOrEqual(before)
})

it('a node that does not poll looks up handles, links and words through the poller', async () => {
  const standIn = await startStandIn()
  onTestFinished(async () => void (await standIn.stop()))
  const [first, second] = await startPair(nats().url, { youtubeUri: standIn.url, sseUri: '', dailyBudget: 0 })
  const put = (node: TestStats, id: string) => node.put('/collections/c', { videos: [], sources: [{ id }] })
  const added = await put(second, channel.handle)
  expect([added.status, added.body.sources]).toEqual([201, [{ type: 'channel', id: channel.id, title: channel.title }]])
  expect((await put(second, SAMPLE_PLAYLIST)).body.sources).toMatchObject([{ type: 'playlist', id: SAMPLE_PLAYLIST }])
  expect(await put(second, '@channel9999')).toMatchObject({ status: 422, body: { code: 'SOURCE_NOT_FOUND' } })
  const { body } = await second.post('/preview', { text: 'aaaaaaaaaaa' })
  expect(body.items).toMatchObject([{ state: 'new', type: 'video', id: 'aaaaaaaaaaa', title: expect.any(String) }])
  // Every call is one of the poller, which has counted its unit for all nodes.
  const getLookups = async (node: TestStats) => (await node.get('/upstream')).body.budget.kinds.lookups
  expect(await getLookups(first)).toBe(4)
  await waitUntil(async () => (await getLookups(second)) === 4)
  // In an outage the caller gets the cause that the poller sees.
  await standIn.stop()
  expect(await put(second, '@channel8')).toMatchObject({ status: 503, body: { code: 'UPSTREAM_UNAVAILABLE' } })
  expect((await second.post('/preview', { text: 'bbbbbbbbbbb' })).body.items).toMatchObject([
    { state: 'unknown', reason: 'NOT_CHECKED' },
  ])
})
