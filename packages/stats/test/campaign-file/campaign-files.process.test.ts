import { createTemporaryFolder } from '@influencer-stats/runtime/testing/temporary-folder'
import { waitUntil } from '@influencer-stats/runtime/testing/wait-until'
import { expect, it, onTestFinished } from 'vitest'
import { createStatsClient, type StatsClient } from '../../src/client.ts'
import { SAMPLE_VIDEOS, startStandIn } from '../support/stand-in.ts'
import { startStats, toContent } from '../support/stats.ts'

const [first, second, third] = SAMPLE_VIDEOS as [string, string, string]
const CHANNEL = 'UCuAXFkgsw1L7xaCfnd5JJOw'

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
  expect((await empty.importCampaigns(bytes)).campaigns.map(({ state }) => state)).toEqual(['unchanged', 'unchanged'])
  // A campaign with an id is replaced.
  await empty.patch('spring', { name: 'Other' })
  expect((await empty.importCampaigns(bytes)).campaigns).toMatchObject([{ state: 'unchanged' }, { state: 'changed' }])
  expect(await listContents(empty)).toEqual(await listContents(client))
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
