import type { Overrides } from '@influencer-stats/runtime/embed'
import { createTemporaryFolder } from '@influencer-stats/runtime/testing/temporary-folder'
import { waitUntil } from '@influencer-stats/runtime/testing/wait-until'
import { describe, expect, it, onTestFinished } from 'vitest'
import { createStatsClient } from '../src/client.ts'
import { listOf, startFakeYoutube, videoIds, type FakeYoutube } from './support/fake-youtube.ts'
import { startKv } from './support/kv.ts'
import { startStats } from './support/stats.ts'

const HOUR_MS = 3_600_000
const [A, B] = videoIds(2) as [string, string]

async function openStats(youtube: FakeYoutube, settings: Overrides = {}) {
  const kvUri = settings.state === 'kv' ? (await startKv()).url : ''
  const stats = await startStats({
    data: createTemporaryFolder(),
    youtubeUri: youtube.url,
    kvUri,
    refreshInterval: HOUR_MS,
    dailyBudget: 0,
    sseUri: '',
    ...settings,
  })
  onTestFinished(async () => void (await stats.stop()))
  return { stats, client: createStatsClient(stats.url) }
}

const variants: readonly (readonly [string, Overrides])[] = [
  ['the defaults', { threads: 2 }],
  ['state kv', { state: 'kv' }],
  ['state map', { state: 'map' }],
  ['state list and cache lru', { state: 'list', cache: 'lru', threads: 1 }],
  ['cache lru', { cache: 'lru', threads: 2 }],
]

describe.each(variants)('the trash with %s', (_, settings) => {
  it('hides a deleted collection from every read, and gives it back with its numbers', async () => {
    const youtube = await startFakeYoutube()
    const { stats, client } = await openStats(youtube, settings)
    const created = await client.put('c', { videos: [A, B], name: 'Spring' })
    await client.put('other', { videos: [A] })
    expect(await client.getStats('c')).toMatchObject({ impressions: 200 })
    const history = await waitUntil(async () => {
      const points = await client.getHistory('c')
      return points!.length > 0 && points
    })
    expect(await client.listTrash()).toEqual({ collections: [] })
    expect(await client.delete('c')).toBe(true)
    expect(await client.delete('c')).toBe(false)
    const paths = ['', '?include=stats', '/stats', '/stats?by=video', '/stats/history', '/videos', '/export']
    for (let round = 0; round < 3; round++)
      for (const path of paths)
        expect(await stats.get(`/collections/c${path}`)).toMatchObject({
          status: 404,
          body: { code: 'COLLECTION_NOT_FOUND' },
        })
    for (const query of ['', '?sort=name'])
      expect((await stats.get(`/collections${query}`)).body.collections).toMatchObject([{ id: 'other' }])
    const { collections } = await client.listTrash()
    expect(collections).toEqual([
      { ...created, version: expect.any(String), deleted: expect.any(String), expires: expect.any(String) },
    ])
    const [{ deleted, expires, version }] = collections as [(typeof collections)[0]]
    expect(Date.parse(expires) - Date.parse(deleted)).toBe(30 * 24 * HOUR_MS)
    const calls = youtube.calls.length
    await expect(client.restore('c', { ifVersion: created.version })).rejects.toMatchObject({
      code: 'CONDITION_FAILED',
    })
    const restored = await client.restore('c', { ifVersion: version })
    expect(restored).toEqual({ ...created, version: restored!.version })
    expect(await client.get('c')).toEqual(restored)
    expect(await client.listTrash()).toEqual({ collections: [] })
    expect(await client.getStats('c')).toMatchObject({ impressions: 200 })
    if (settings.cache === undefined) expect(youtube.calls.length).toBe(calls)
    expect(await client.getHistory('c')).toEqual(history)
    expect(await client.restore('c')).toBeUndefined()
  })

  it('is emptied by a deletion for good, or by a new collection with the id', async () => {
    const youtube = await startFakeYoutube()
    const { client } = await openStats(youtube, settings)
    for (const id of ['a', 'b', 'c']) {
      await client.put(id, { videos: [A] })
      await client.getStats(id)
      expect(await client.delete(id)).toBe(true)
    }
    expect(await client.deleteForGood('a')).toBe(true)
    expect(await client.deleteForGood('a')).toBe(false)
    const first = await client.listTrash({ limit: 1 })
    expect(first).toMatchObject({ collections: [{ id: 'b' }], next: 'b' })
    expect(await client.listTrash({ after: first.next! })).toMatchObject({ collections: [{ id: 'c' }] })
    await client.put('b', { videos: [B] })
    expect((await client.listTrash()).collections.map(({ id }) => id)).toEqual(['c'])
    expect(await client.restore('b')).toBeUndefined()
  })
})

it('no video is requested only for a deleted collection', async () => {
  const youtube = await startFakeYoutube()
  const { client } = await openStats(youtube, { refreshInterval: 50 })
  await client.put('deleted', { videos: [A, B] })
  await client.put('other', { videos: [A] })
  await client.getStats('deleted')
  await client.delete('deleted')
  const after = youtube.calls.length + 2
  await waitUntil(() => youtube.calls.length > after + 3)
  expect(new Set(youtube.calls.slice(after).flat())).toEqual(new Set([A]))
  youtube.handler = (ids, reply) => reply.end(listOf(ids, 300))
  await client.restore('deleted')
  await waitUntil(async () => (await client.getStats('deleted'))!.impressions === 600)
})

it('the trash survives a restart; without retention a deletion is final', async () => {
  const youtube = await startFakeYoutube()
  const data = createTemporaryFolder()
  const { stats, client } = await openStats(youtube, { data })
  await client.put('c', { videos: [A] })
  await client.getStats('c')
  await client.delete('c')
  await stats.stop()
  const calls = youtube.calls.length
  const again = await openStats(youtube, { data, trashDays: 0 })
  expect((await again.client.list()).collections).toEqual([])
  expect(await again.client.restore('c')).toMatchObject({ videos: [A] })
  expect(await again.client.getStats('c')).toMatchObject({ impressions: 100 })
  expect(youtube.calls.length).toBe(calls)
  await again.client.delete('c')
  expect(await again.client.listTrash()).toEqual({ collections: [] })
  expect(await again.client.restore('c')).toBeUndefined()
})
