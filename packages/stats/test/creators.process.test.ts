import type { Overrides } from '@influencer-stats/runtime/embed'
import { createTemporaryFolder } from '@influencer-stats/runtime/testing/temporary-folder'
import { waitUntil } from '@influencer-stats/runtime/testing/wait-until'
import { describe, expect, it, onTestFinished } from 'vitest'
import { createStatsClient } from '../src/client.ts'
import { channelId, withChannels } from './support/creators.ts'
import { startFakeYoutube, videoIds } from './support/fake-youtube.ts'
import { startKv } from './support/kv.ts'
import { startStats } from './support/stats.ts'

const videos = videoIds(5)
const [A, B, C, D, E] = videos as [string, string, string, string, string]
/** The first three videos belong to channel 1, the others to channel 2. */
const getChannel = (video: string) => (videos.indexOf(video) < 3 ? 1 : 2)

async function openStats(settings: Overrides) {
  const youtube = await startFakeYoutube()
  youtube.handler = withChannels(getChannel)
  const kvUri = settings.state === 'kv' ? (await startKv()).url : ''
  const shared = { data: createTemporaryFolder(), kvUri, sseUri: '', dailyBudget: 0, refreshInterval: 3_600_000 }
  const stats = await startStats({ ...shared, youtubeUri: youtube.url, ...settings })
  onTestFinished(async () => void (await stats.stop()))
  return { stats, client: createStatsClient(stats.url), source: youtube.url }
}

const variants: readonly (readonly [string, Overrides])[] = [
  ['the defaults', { threads: 2 }],
  ['state kv', { state: 'kv' }],
  ['state map', { state: 'map' }],
  ['state list', { state: 'list', threads: 1 }],
  ['state list and cache lru', { state: 'list', cache: 'lru', threads: 1 }],
  ['cache none', { cache: 'none', threads: 2 }],
]

describe.each(variants)('creators with %s', (_, settings) => {
  it('appear with the campaigns, follow their changes, and disappear with them', async () => {
    const { client, stats } = await openStats(settings)
    expect(await client.listCreators()).toEqual({ creators: [], total: 0 })
    await client.put('one', {
      videos: [A, B, D],
      name: 'One',
      currency: 'EUR',
      fees: [{ creator: 'Channel 1', amount: 9 }],
    })
    await client.put('two', { videos: [B, C] })
    for (const id of ['one', 'two']) await client.getStats(id)
    const row = await waitUntil(async () => {
      const found = (await client.get('one', ['stats', 'creators']))!
      return found.unattributed === undefined && found.creators!.length === 2 && found
    })
    expect(row.stats).toMatchObject({ impressions: 300 })
    expect(row.creators).toEqual([
      {
        id: channelId(1),
        title: 'Channel 1',
        stats: { impressions: 200, engagements: 30, score: 50, videos: 2 },
        rate: 0.15,
        share: 2 / 3,
        fee: 9,
        costs: { perThousandViews: 45, perEngagement: 0.3 },
      },
      expect.objectContaining({ id: channelId(2), share: 1 / 3 }),
    ])
    expect(await client.get('two')).not.toHaveProperty('creators')
    expect(await client.get('none', ['creators'])).toBeUndefined()

    const first = await waitUntil(async () => {
      const page = await client.listCreators({ limit: 1 })
      return page.creators[0]?.stats.videos === 3 && page
    })
    expect(first).toMatchObject({ total: 2, creators: [{ id: channelId(1), campaignCount: 2, stale: false }] })
    const second = await client.listCreators({ limit: 1, after: first.next! })
    expect(second.creators.map(({ id }) => id)).toEqual([channelId(2)])
    expect(second.next).toBeUndefined()
    expect((await client.listCreators({ q: 'channel 2', sort: 'name' })).creators).toHaveLength(1)

    const creator = (await client.getCreator(channelId(1)))!
    expect(creator).toMatchObject({
      ...first.creators[0],
      fees: [{ currency: 'EUR', amount: 9 }],
      history: [],
    })
    expect(creator.campaigns.map(({ id, share }) => [id, share])).toEqual([
      ['one', 2 / 3],
      ['two', 1],
    ])
    expect(creator.videos.find(({ id }) => id === B)).toMatchObject({
      title: `Video ${B}`,
      views: 100,
      campaigns: ['one', 'two'],
    })
    expect(await client.getCreator('nobody')).toBeUndefined()
    expect((await stats.get('/creators/nobody')).body.code).toBe('CREATOR_NOT_FOUND')

    await client.patch('one', { videos: [D, E], fees: [{ creator: 'Bea & Söhne', amount: 4 }] })
    // A change is in the next reply.
    expect(await client.getCreator('Bea & Söhne')).toMatchObject({ campaigns: [{ id: 'one', fee: 4, costs: {} }] })
    await client.delete('two')
    await client.getStats('one')
    await waitUntil(async () => {
      const { creators } = await client.listCreators()
      return creators.length === 2 && creators[0]!.stats.videos === 2
    })
    expect(await client.getCreator(channelId(1))).toBeUndefined()
    expect(await client.getCreator('Bea & Söhne')).toMatchObject({
      id: 'Bea & Söhne',
      stats: { videos: 0 },
      fees: [{ currency: 'EUR', amount: 4 }],
      campaigns: [{ id: 'one', fee: 4, costs: {} }],
    })
  })
})

it('a creator has the data of its channel, and its history', async () => {
  const { client, stats, source } = await openStats({ threads: 2 })
  await client.put('one', { videos })
  await client.getStats('one')
  const id = channelId(1)
  const channel = {
    id,
    title: 'Anna',
    handle: '@anna',
    subscribers: 12_300,
    thumbnail: 'https://yt3.ggpht.com/a',
    asOf: 1,
  }
  const toKey = (at: number) => `${id}/${String(at).padStart(16, '0')}`
  const rows = [
    { kind: 'channel', key: id, value: channel },
    { kind: 'channel', key: channelId(2), value: { id: channelId(2), hidesSubscribers: true, asOf: 1 } },
    // More than one read.
    ...Array.from({ length: 1_100 }, (_, i) => ({
      kind: 'channel-point',
      key: toKey((i + 1) * 1_000),
      value: { subscribers: i, views: 2 * i, videos: 3 },
    })),
    { kind: 'channel-point', key: `${channelId(2)}/${String(7).padStart(16, '0')}`, value: { views: 1 } },
  ]
  const body = rows.map((row) => JSON.stringify({ type: 'record', source, ...row })).join('\n')
  const headers = { 'content-type': 'application/x-ndjson' }
  expect((await fetch(`${stats.url}/import`, { method: 'POST', body, headers })).status).toBe(200)
  const found = await waitUntil(async () => {
    const creator = await client.getCreator(id)
    return creator?.handle !== undefined && creator
  })
  expect(found).toMatchObject({ title: 'Anna', subscribers: 12_300, thumbnail: channel.thumbnail })
  expect(found.history).toHaveLength(1_100)
  expect(found.history[1_099]).toEqual({
    at: new Date(1_100_000).toISOString(),
    subscribers: 1_099,
    views: 2_198,
    videos: 3,
  })
  const other = (await client.getCreator(channelId(2)))!
  expect(other).toMatchObject({ title: 'Channel 2', hidesSubscribers: true })
  expect(other).not.toHaveProperty('subscribers')
  expect(other.history).toEqual([{ at: new Date(7).toISOString(), views: 1 }])
  const { creators } = await client.listCreators({ sort: '-subscribers', q: 'anna' })
  expect(creators.map(({ handle }) => handle)).toEqual(['@anna'])
})
