import { sendPatiently } from '@influencer-stats/runtime/testing/patient-requests'
import { createTemporaryFolder } from '@influencer-stats/runtime/testing/temporary-folder'
import { waitUntil } from '@influencer-stats/runtime/testing/wait-until'
import type { Overrides } from '@influencer-stats/runtime/embed'
import { describe, expect, it, onTestFinished } from 'vitest'
import { createStatsClient } from '../src/client.ts'
import { startFakeYoutube, videoIds } from './support/fake-youtube.ts'
import { startKv } from './support/kv.ts'
import { startStats } from './support/stats.ts'

const HOUR_MS = 3_600_000
const [A, B] = videoIds(2) as [string, string]

const variants: readonly (readonly [string, Overrides])[] = [
  ['the defaults', { threads: 2 }],
  ['state kv', { state: 'kv' }],
  ['state map', { state: 'map' }],
  ['state list and cache lru', { state: 'list', cache: 'lru', threads: 1 }],
]

async function openStats(settings: Overrides) {
  const youtube = await startFakeYoutube()
  const kvUri = settings.state === 'kv' ? (await startKv()).url : ''
  const data = createTemporaryFolder()
  const shared = { data, youtubeUri: youtube.url, kvUri, refreshInterval: HOUR_MS, dailyBudget: 0, sseUri: '' }
  const stats = await startStats({ ...shared, ...settings })
  onTestFinished(async () => void (await stats.stop()))
  const client = createStatsClient(stats.url)
  const listIds = async (options: Parameters<typeof client.list>[0]) => {
    const { collections, total } = await client.list(options)
    return [collections.map(({ id }) => id).join(' '), total]
  }
  return { youtube, client, listIds }
}

describe.each(variants)('many collections with %s', (_, settings) => {
  it('are edited, archived, deleted and restored, each one or not at all', async () => {
    const { client, listIds } = await openStats(settings)
    for (const id of ['a', 'b', 'c']) await client.put(id, { videos: [A], name: id.toUpperCase(), tags: ['x'] })
    await client.put('full', { videos: [A], tags: Array.from({ length: 50 }, (_, i) => `t${i}`) })
    const { version } = (await client.get('c'))!

    const tagged = await client.bulk(['c', 'none', 'a', 'full'], { addTags: ['y', 'x'] }, { a: '1' })
    expect(tagged).toEqual([
      { id: 'c', changed: true, version: expect.stringMatching(/^\d+$/) },
      { id: 'none', changed: false, code: 'COLLECTION_NOT_FOUND', detail: 'none' },
      { id: 'a', changed: false, code: 'CONDITION_FAILED', detail: expect.any(String) },
      { id: 'full', changed: false, code: 'TOO_MANY_TAGS', detail: 'maximum of 50 tags' },
    ])
    expect(tagged[0]!.version).not.toBe(version)
    expect((await client.get('c'))!).toMatchObject({ tags: ['x', 'y'], name: 'C', version: tagged[0]!.version })
    expect((await client.get('a'))!.tags).toEqual(['x'])
    expect(await client.bulk(['c'], { addTags: ['y'] })).toMatchObject([{ changed: false }])
    await client.bulk(['a', 'c'], { removeTags: ['x'], archived: true })
    expect(await client.get('c')).toMatchObject({ tags: ['y'], archived: true })
    expect(await client.get('a')).not.toHaveProperty('tags')

    expect(await listIds({})).toEqual(['b full', undefined])
    expect(await listIds({ limit: 1 })).toEqual(['b', undefined])
    expect(await listIds({ offset: 0 })).toEqual(['b full', 2])
    expect(await listIds({ archived: 'true' })).toEqual(['a c', 2])
    expect(await listIds({ archived: 'any', sort: '-id', limit: 2, offset: 1 })).toEqual(['c b', 4])
    expect(await listIds({ archived: 'any', q: 'C' })).toEqual(['c', 1])
    expect(await listIds({ archived: 'any', offset: 9 })).toEqual(['', 4])
    await client.bulk(['a'], { archived: false })
    expect(await listIds({ sort: 'name' })).toEqual(['a b full', 3])

    const deleted = await client.bulk(['b', 'none', 'a'], { deleted: true })
    expect(deleted).toMatchObject([{ changed: true }, { code: 'COLLECTION_NOT_FOUND' }, { changed: true }])
    expect(await listIds({ sort: 'name', archived: 'any' })).toEqual(['c full', 2])
    expect((await client.listTrash()).collections.map(({ id }) => id)).toEqual(['a', 'b'])
    const restored = await client.bulk(['a', 'b', 'c'], { restored: true })
    expect(restored).toMatchObject([{ changed: true }, { changed: true }, { changed: false, code: 'NOT_IN_TRASH' }])
    expect(await client.get('b')).toMatchObject({ videos: [A], name: 'B', version: restored[1]!.version })
    expect(await listIds({ sort: 'name', archived: 'any' })).toEqual(['a b c full', 4])
  })
})

it('500 collections change at once, and the list has them in the next request', async () => {
  const { client, listIds } = await openStats({ threads: 2 })
  const ids = Array.from({ length: 500 }, (_, i) => `c${String(i).padStart(3, '0')}`)
  await sendPatiently(ids.entries(), ([i, id]) => client.put(id, { videos: [], name: `${i}` }))
  expect(await listIds({ sort: '-name', limit: 2 })).toEqual(['c499 c498', 500])
  const results = await client.bulk(ids, { archived: true })
  expect(results.map(({ id, changed }) => changed && id)).toEqual(ids)
  expect(await listIds({ sort: '-name', limit: 2 })).toEqual(['', 0])
  expect(await listIds({ limit: 1 })).toEqual(['', undefined])
  await client.put('c007', { videos: [], name: '7' })
  expect(await listIds({ sort: '-name' })).toEqual(['c007', 1])
  expect(await listIds({})).toEqual(['c007', undefined])
})

it('the archive is requested no more, and again once it is left', async () => {
  const { youtube, client } = await openStats({ threads: 1, refreshInterval: 50 })
  await client.put('archived', { videos: [A, B], archived: true })
  await client.put('active', { videos: [A] })
  expect(await client.getStats('archived')).toMatchObject({ impressions: 200 })
  const after = youtube.calls.length + 2
  await waitUntil(() => youtube.calls.length > after + 3)
  expect(new Set(youtube.calls.slice(after).flat())).toEqual(new Set([A]))
  await client.bulk(['archived'], { archived: false })
  const later = youtube.calls.length
  await waitUntil(() => youtube.calls.slice(later).flat().includes(B))
})
