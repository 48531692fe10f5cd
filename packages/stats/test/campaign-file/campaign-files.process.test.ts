import { createTemporaryFolder } from '@influencer-stats/runtime/testing/temporary-folder'
import { waitUntil } from '@influencer-stats/runtime/testing/wait-until'
import { expect, it, onTestFinished } from 'vitest'
import { createStatsClient, type StatsClient } from '../../src/client.ts'
import { SAMPLE_VIDEOS, startStandIn } from '../support/stand-in.ts'
import { startStats, toContent } from '../support/stats.ts'

const [first, second, third] = SAMPLE_VIDEOS as [string, string, string]
const CHANNEL = 'UCuAXFkgsw1L7xaCfnd5JJOw'

const TIKTOK = 'https://www.tiktok.com/@anna/video/7234567890123456789'
const TIKTOK_ID = 'tiktok-7234567890123456789'

const SHEET = [
  'Campaign;Link;Creator;Honorar;Währung;Start;Tags',
  `Frühling;https://youtu.be/${first};Anna;1.200,50;EUR;1.3.2026;drinks, spring`,
  `Frühling;https://vimeo.com/1;Bob;300;;;`,
  `Herbst;${second};Cem;;;;`,
  'Herbst;gone_video_;Dana;;;;',
].join('\n')

async function startService(variant = 'v8') {
  const standIn = await startStandIn()
  const settings = { variant, youtubeUri: standIn.url, dailyBudget: 0, refreshInterval: 100 }
  const stats = await startStats({ ...settings, data: createTemporaryFolder() })
  onTestFinished(async () => {
    await stats.stop()
    await standIn.stop()
  })
  return { stats, client: createStatsClient(stats.url) }
}

const listContents = async (client: StatsClient) =>
  (await client.list()).collections.map((one) => toContent(one as never))

/** The posts of a campaign with all their numbers, and their sums over time. */
const listReported = async (client: StatsClient, id: string) => {
  const posts = (await client.listPosts(id))!
  const numbers = await Promise.all(posts.map((post) => client.listNumbers(id, post.id)))
  return { posts, numbers, sums: (await client.getStats(id))?.reported, history: await client.getReportedHistory(id) }
}

it.each(['v3', 'v8'])('a sheet of a person becomes campaigns, after a dry run without changes: %s', async (variant) => {
  const { client } = await startService(variant)
  const expected = {
    campaigns: [
      { line: 2, name: 'Frühling', state: 'new', videos: 1, added: 1, removed: 0 },
      { line: 4, name: 'Herbst', state: 'new', videos: 1, added: 1, removed: 0 },
    ],
    refused: [
      { line: 3, text: 'https://vimeo.com/1', reason: 'UNSUPPORTED_HOST' },
      { line: 4, text: 'gone_video_', reason: 'NOT_A_VIDEO' },
    ],
    invalid: [],
  }
  expect(await client.importCampaigns(SHEET, { dryRun: true })).toMatchObject({ dryRun: true, ...expected })
  expect((await client.list()).collections).toEqual([])
  expect(await client.importCampaigns(SHEET)).toMatchObject({ dryRun: false, ...expected })
  const { collections } = await client.list({ sort: 'name' })
  expect(collections).toMatchObject([
    {
      name: 'Frühling',
      videos: [first],
      fees: [
        { creator: 'Anna', amount: 1_200.5 },
        { creator: 'Bob', amount: 300 },
      ],
      currency: 'EUR',
      from: '2026-03-01',
      tags: ['drinks', 'spring'],
    },
    { name: 'Herbst', videos: [second] },
  ])
  // Rows without an id are added to the campaign of the name.
  const more = `Campaign,Link\nHerbst,https://youtu.be/${third}\n`
  expect((await client.importCampaigns(more)).campaigns).toMatchObject([{ state: 'changed', videos: 2, added: 1 }])
  expect((await client.importCampaigns(more)).campaigns).toMatchObject([{ state: 'unchanged', added: 0 }])
})

it.each(['csv', 'xlsx'] as const)('an export gives the same campaigns in an empty service: %s', async (format) => {
  const { client } = await startService()
  await client.put('spring', {
    videos: [second, first],
    name: '=Spring, "sparkling"',
    tags: ['a, b', '#c'],
    from: '2026-03-01',
    to: '2026-05-31',
    fees: [{ creator: 'Anna', amount: 1_234.5 }],
    currency: 'EUR',
    sources: [{ type: 'channel', id: CHANNEL, contains: ['#cola'], title: 'Anna' }],
  })
  await client.put('old', { videos: [], cost: 0.1, archived: true })
  await client.addPost('old', { url: TIKTOK, title: '=Unboxing', published: '2026-03-02' })
  await client.reportNumbers('old', TIKTOK_ID, { views: 900, likes: 5, at: '2026-03-05T10:00:00.123Z' })
  await client.reportNumbers('old', TIKTOK_ID, { views: 800, note: 'by "mail"', at: '2026-03-06T10:00:00Z' })
  await client.putPost('old', 'reel', { url: 'https://www.instagram.com/reel/C1a2b3c4d5e/', creator: 'Bob' })
  await client.reportNumbers('old', 'reel', { saves: 0, at: '2026-03-06T10:00:00Z', note: 'x' })
  await client.putPost('spring', 'none', { url: 'https://x.com/i/status/12345' })
  await waitUntil(async () => (await client.listVideos('spring'))?.videos[0]!.title !== undefined)
  const file = await waitUntil(async () => {
    const exported = await client.exportCampaigns(format)
    return format === 'xlsx' || (await exported.clone().text()).includes(',261734,') ? exported : undefined
  })
  expect(file.headers.get('content-disposition')).toBe(`attachment; filename="campaigns.${format}"`)
  const bytes = new Uint8Array(await file.arrayBuffer())

  const { client: empty } = await startService()
  expect(await empty.importCampaigns(bytes)).toMatchObject({ refused: [], invalid: [], unknownHeadings: [] })
  expect(await listContents(empty)).toEqual(await listContents(client))
  for (const id of ['old', 'spring']) expect(await listReported(empty, id)).toEqual(await listReported(client, id))
  expect((await empty.importCampaigns(bytes)).campaigns.map(({ state }) => state)).toEqual(['unchanged', 'unchanged'])
  // Posts and numbers are added or replaced, and never deleted.
  await empty.reportNumbers('old', TIKTOK_ID, { views: 7, at: '2026-03-05T10:00:00.123Z' })
  await empty.addPost('old', { url: 'https://x.com/i/status/6789012345' })
  expect((await empty.importCampaigns(bytes, { dryRun: true })).campaigns).toMatchObject([
    { state: 'changed', posts: 1 },
    {},
  ])
  expect((await empty.importCampaigns(bytes)).campaigns).toMatchObject([{ state: 'changed', posts: 1 }, { posts: 0 }])
  expect((await empty.listPosts('old'))!.map(({ id }) => id)).toEqual(['reel', TIKTOK_ID, 'x-6789012345'])
  await empty.deletePost('old', 'x-6789012345')
  expect(await listReported(empty, 'old')).toEqual(await listReported(client, 'old'))
  // A campaign with an id is replaced.
  await empty.patch('spring', { name: 'Other' })
  expect((await empty.importCampaigns(bytes)).campaigns).toMatchObject([{ state: 'unchanged' }, { state: 'changed' }])
  expect(await listContents(empty)).toEqual(await listContents(client))
})

it('posts of a sheet are added to a campaign, which is imported completely or not at all', async () => {
  const { client } = await startService()
  const lines = [
    'Campaign,Link,Views,Reported at,Note',
    `Spring,${TIKTOK},900,2026-03-05,by mail`,
    `Late,${TIKTOK},1,2999-01-01,`,
    `Long,${TIKTOK},1,2026-03-05,${'n'.repeat(501)}`,
  ].join('\n')
  const expected = [
    { name: 'Spring', state: 'new', posts: 1 },
    { name: 'Late', state: 'refused', code: 'NUMBERS_IN_FUTURE' },
    { name: 'Long', state: 'refused', code: 'VALIDATION_FAILED' },
  ]
  expect((await client.importCampaigns(lines, { dryRun: true })).campaigns).toMatchObject(expected)
  expect((await client.importCampaigns(lines)).campaigns).toMatchObject(expected)
  const { collections } = await client.list()
  expect(collections.map(({ name }) => name)).toEqual(['Spring'])
  const { id } = collections[0]!
  expect(await client.listPosts(id)).toMatchObject([{ id: TIKTOK_ID, numbers: { views: 900 } }])
  // A post with the same link is the same post.
  const more = `Campaign,Post ID,Link,Views,Reported at\nSpring,own,${TIKTOK},950,2026-03-06\n`
  expect((await client.importCampaigns(more)).campaigns).toMatchObject([{ state: 'changed', posts: 1 }])
  expect(await client.listPosts(id)).toMatchObject([{ id: TIKTOK_ID, points: 2, numbers: { views: 950 } }])
})

it('a campaign that is not valid is refused with its reason, and the others are imported', async () => {
  const { client } = await startService()
  const lines = [
    'Campaign ID,Campaign,Link,Start,End',
    `a b,Spring,https://youtu.be/${first},,`,
    `c,${'n'.repeat(201)},https://youtu.be/${first},,`,
    `d,Late,https://youtu.be/${first},2026-03-02,2026-03-01`,
    `e,Right,https://youtu.be/${first},,`,
  ]
  const { campaigns } = await client.importCampaigns(lines.join('\n'))
  expect(campaigns).toMatchObject([
    { line: 2, id: 'a b', state: 'refused', code: 'VALIDATION_FAILED', detail: expect.stringContaining('campaign/id') },
    { line: 3, state: 'refused', code: 'VALIDATION_FAILED', detail: expect.stringContaining('campaign/name') },
    { line: 4, state: 'refused', code: 'INVALID_DATE_RANGE' },
    { line: 5, state: 'new' },
  ])
  expect((await client.list()).collections.map(({ id }) => id)).toEqual(['e'])
})

it('channels that a sheet names by their handles are looked up once, and become sources', async () => {
  const { client } = await startService('v8')
  const lines = [
    'Campaign,Link,Contains',
    'Spring,https://www.youtube.com/@channel7,spring',
    'Spring,https://www.youtube.com/@channel9999,',
    'Autumn,https://www.youtube.com/@channel7,',
  ].join('\n')
  const refused = [{ line: 2, text: 'https://www.youtube.com/@channel9999', reason: 'CHANNEL_NOT_FOUND' }]
  const getLookups = async () => (await client.getUpstream()).budget.kinds.lookups
  expect(await client.importCampaigns(lines, { dryRun: true })).toMatchObject({ campaigns: [{}, {}], refused })
  expect(await getLookups()).toBe(2)
  const { campaigns } = await client.importCampaigns(lines)
  // Only the channel that was not found is looked up once more.
  expect(await getLookups()).toBe(3)
  const source = { type: 'channel', id: 'UC0007000700070007000700', title: 'Channel 7' }
  expect((await client.get(campaigns[0]!.id))!.sources).toEqual([{ ...source, contains: ['spring'] }])
  expect((await client.get(campaigns[1]!.id))!.sources).toEqual([source])
  expect((await client.importCampaigns(lines)).campaigns).toMatchObject([
    { state: 'unchanged' },
    { state: 'unchanged' },
  ])
})
