import { waitUntil } from '@influencer-stats/runtime/testing/wait-until'
import { expect, it } from 'vitest'
import { createStatsClient } from '../src/client.ts'
import { useNats, startPair } from './support/cluster-node.ts'
import { startFakeYoutube, videoIds } from './support/fake-youtube.ts'

const nats = useNats()
const HOUR_MS = 3_600_000
const TIKTOK = 'https://www.tiktok.com/@anna/video/7234567890123456789'
const TIKTOK_ID = 'tiktok-7234567890123456789'

it('nodes of a cluster change posts at the same time without loss, and have the same numbers', async () => {
  const youtube = await startFakeYoutube()
  const settings = { youtubeUri: youtube.url, refreshInterval: HOUR_MS, threads: 2 }
  const [poller, follower] = await startPair(nats().url, settings)
  const [one, other] = [createStatsClient(poller.url), createStatsClient(follower.url)]
  await one.put('c', { videos: videoIds(2), cost: 10 })
  await other.addPost('c', { url: TIKTOK })

  // Each node reads its own writes, and reports of both at once are all stored.
  const times = Array.from({ length: 20 }, (_, i) => new Date(1e12 + i * HOUR_MS).toISOString())
  await Promise.all(times.map((at, views) => (views % 2 ? one : other).reportNumbers('c', TIKTOK_ID, { views, at })))
  const all = times.map((at, views) => ({ at, views }))
  const readBoth = <T>(read: (client: typeof one) => Promise<T>) => Promise.all([one, other].map(read))
  await waitUntil(async () =>
    (await readBoth((client) => client.listPosts('c'))).every((posts) => posts![0]?.points === 20),
  )
  expect(await readBoth((client) => client.listNumbers('c', TIKTOK_ID))).toEqual([all, all])

  // A deletion on one node and a report on the other: both count.
  await Promise.all([
    one.deleteNumbers('c', TIKTOK_ID, times.at(-1)!),
    other.reportNumbers('c', TIKTOK_ID, { saves: 3, at: times[0]! }),
  ])
  const reported = { impressions: 18, saves: 3, posts: 1, asOf: times.at(-2)! }
  await waitUntil(async () =>
    (await readBoth((client) => client.getStats('c'))).every(
      (stats) => stats!.reported?.impressions === 18 && stats!.reported.saves === 3,
    ),
  )
  for (const stats of await readBoth((client) => client.getStats('c')))
    expect(stats).toMatchObject({ impressions: 200, reported })
  for (const row of await readBoth((client) => client.get('c', ['stats'])))
    expect(row!.costs!.perThousandViews).toBeCloseTo((10 / 218) * 1_000, 6)

  // A file that one node exports gives the same posts as the other has.
  const file = new Uint8Array(await (await one.exportCampaigns('csv')).arrayBuffer())
  expect((await other.importCampaigns(file)).campaigns).toMatchObject([{ id: 'c', state: 'unchanged', posts: 0 }])
  expect(await other.deletePost('c', TIKTOK_ID)).toBe(true)
  await waitUntil(async () => (await one.getStats('c'))!.reported === undefined)
  expect((await one.importCampaigns(file)).campaigns).toMatchObject([{ id: 'c', state: 'changed', posts: 1 }])
  await waitUntil(async () => (await other.getStats('c'))!.reported?.impressions === 18)
  expect(await other.listNumbers('c', TIKTOK_ID)).toEqual(await one.listNumbers('c', TIKTOK_ID))
})
