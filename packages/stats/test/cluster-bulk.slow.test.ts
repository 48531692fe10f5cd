import { waitUntil } from '@influencer-stats/runtime/testing/wait-until'
import { expect, it } from 'vitest'
import { startFakeYoutube, videoIds } from './support/fake-youtube.ts'
import { useNats, startPair } from './support/cluster-node.ts'

const nats = useNats()
const COUNT = 150

it(
  'bulk changes of each node of a cluster reach the other one, each collection once',
  { timeout: 120_000 },
  async () => {
    const youtube = await startFakeYoutube()
    const settings = { youtubeUri: youtube.url, refreshInterval: 3_600_000, threads: 2 }
    const [poller, follower] = await startPair(nats().url, settings)
    const all = [poller, follower]
    const ids = Array.from({ length: COUNT }, (_, i) => `c${String(i).padStart(3, '0')}`)
    for (const [i, id] of ids.entries())
      expect((await all[i % 2]!.put(`/collections/${id}`, { videos: videoIds(2) })).status).toBe(201)
    const readTotal = async (node: (typeof all)[0], query: string) =>
      (await node.get(`/collections?sort=name&limit=1&${query}`)).body.total
    const expectTotals = async (query: string, total: number) => {
      for (const node of all) await waitUntil(async () => (await readTotal(node, query)) === total)
    }
    const change = async (node: (typeof all)[0], some: string[], changes: object) => {
      const { status, body } = await node.post('/campaigns/bulk', { ids: some, change: changes })
      expect(status).toBe(200)
      return body.results.filter(({ changed }: { changed: boolean }) => changed).length
    }
    await expectTotals('', COUNT)
    // Two nodes change the same collections at the same time: each gets both tags.
    const tagged = await Promise.all(all.map((node, i) => change(node, ids, { addTags: [`tag${i}`] })))
    expect(tagged).toEqual([COUNT, COUNT])
    await expectTotals('tag=tag0', COUNT)
    await expectTotals('tag=tag1', COUNT)

    expect(await change(follower, ids.slice(0, 100), { archived: true })).toBe(100)
    await expectTotals('', COUNT - 100)
    await expectTotals('archived=true', 100)
    expect(await change(poller, ids.slice(0, 100), { archived: false })).toBe(100)
    await expectTotals('archived=true', 0)

    // Each collection is deleted by one of the nodes only.
    const deleted = await Promise.all(all.map((node) => change(node, ids.slice(50), { deleted: true })))
    expect(deleted[0] + deleted[1]).toBe(COUNT - 50)
    await expectTotals('', 50)
    for (const node of all) {
      await waitUntil(async () => (await node.get('/trash?limit=200')).body.collections.length === COUNT - 50)
      expect((await node.get('/collections/c100/stats')).status).toBe(404)
    }
    expect(await change(follower, ids, { restored: true })).toBe(COUNT - 50)
    await expectTotals('tag=tag0', COUNT)
    for (const node of all) {
      await waitUntil(async () => (await node.get('/collections/c100/stats')).body.impressions === 200)
      expect((await node.get('/trash')).body.collections).toEqual([])
    }
    // A copy on one node is readable on the other.
    const copy = await follower.post('/collections/c000/duplicate', { name: 'Copy' })
    expect(copy.status).toBe(201)
    await waitUntil(async () => (await poller.get(`/collections/${copy.body.id}`)).body.name === 'Copy')
  },
)
