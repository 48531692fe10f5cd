import { waitUntil } from '@influencer-stats/runtime/testing/wait-until'
import { expect, it } from 'vitest'
import type { Page } from 'playwright-core'
import { openPage } from './support/browser.ts'
import { checkScreen } from './support/check-screen.ts'
import { startStack } from './support/test-stack.ts'

const IDS = Array.from({ length: 56 }, (_, i) => `a${String(i).padStart(2, '0')}-xYz_Q7w`)
const SHEET = [
  'Influencers\tSponsorship\tBudget',
  ...IDS.map(
    (id, i) =>
      `Anna\t${i % 2 ? 'https://youtu.be/' : 'https://l.instagram.com/?u=https%3A%2F%2Fyoutu.be%2F'}${id}\t120`,
  ),
].join('\n')
const CHANNEL = 'https://www.youtube.com/channel/UC0007000700070007000700'

const listStates = (page: Page) =>
  page.locator('.preview tr[data-state]').evaluateAll((rows) => rows.map((row: any): string => row.dataset.state))

it('a pasted sheet becomes its 56 videos, and each row shows what becomes of it', async () => {
  const stack = await startStack()
  const page = await openPage()
  await page.goto(stack.url)
  await page
    .getByLabel('YouTube links')
    .fill(`${SHEET}\nBob\thttps://vimeo.com/12\t5\nAnna\thttps://youtu.be/${IDS[0]}\t1`)
  await page.getByText('56 videos', { exact: true }).waitFor()
  expect(await listStates(page)).toEqual(['refused', ...IDS.map(() => 'new'), 'duplicate'])
  await page.getByText('Not a link of YouTube or another known platform').waitFor()
  await page.getByText('Columns that are ignored: Sponsorship').waitFor()
  await checkScreen(page, 'new')
  await page.getByRole('button', { name: 'Start campaign' }).click()
  await page.waitForURL(/\/campaigns\/\w+$/)
  const id = page.url().split('/').at(-1)!
  expect((await stack.stats.get(id))!.videos).toEqual(IDS)
})

it('a paste for a campaign is checked against it; one click adds the rest, and another one follows a channel', async () => {
  const stack = await startStack()
  await stack.stats.put('a', { videos: [IDS[0]!] })
  const page = await openPage()
  await page.goto(`${stack.url}/campaigns/a`)
  const field = page.getByLabel('Links of videos to add')
  // The stand-in knows no video whose id ends in `_`.
  const lines = [
    `https://youtu.be/${IDS[0]}`,
    IDS[1],
    'gone_video_',
    CHANNEL,
    'https://www.tiktok.com/@a/video/7123456789012345678',
  ]
  await field.fill(lines.join('\n'))
  await waitUntil(async () => (await listStates(page)).join() === 'refused,member,new,new,new')
  await page.getByText('YouTube knows no such video').waitFor()
  await page.getByText('TikTok post', { exact: true }).waitFor()
  await checkScreen(page, 'add')
  await page.getByRole('button', { name: `Follow ${CHANNEL}` }).click()
  await waitUntil(async () => (await listStates(page)).join() === 'refused,member,new,member,new')
  expect((await stack.stats.get('a'))!.sources).toMatchObject([
    { type: 'channel', id: CHANNEL.split('/').at(-1), title: 'Channel 7' },
  ])
  await page.getByRole('button', { name: 'Add 2', exact: true }).click()
  await waitUntil(async () => (await stack.stats.get('a'))!.videos.join() === `${IDS[0]},${IDS[1]}`)
  await waitUntil(
    async () => (await stack.stats.listPosts('a'))!.map(({ id }) => id).join() === 'tiktok-7123456789012345678',
  )
  // What was not added remains in the field.
  await waitUntil(async () => (await field.inputValue()) === lines[2])
})

it('a sheet of campaigns is imported after its preview, and all campaigns are exported', async () => {
  const stack = await startStack()
  const page = await openPage()
  await page.goto(stack.url)
  await page.getByRole('button', { name: 'Import a sheet' }).click()
  const rows = [
    'Campaign,Link,Creator,Fee,Start',
    `Spring,https://youtu.be/${IDS[0]},Anna,900,2026-03-01`,
    `Spring,https://vimeo.com/1,Bob,100,`,
    `Autumn,https://youtu.be/${IDS[1]},Cem,x,`,
  ]
  const buffer = Buffer.from(rows.join('\n'))
  await page.getByLabel('CSV or XLSX file').setInputFiles({ name: 'plan.csv', mimeType: 'text/csv', buffer })
  await waitUntil(async () => (await listStates(page)).join() === 'new,new,refused')
  expect((await stack.stats.list()).collections).toEqual([])
  await page.getByText('Line 4: “x” is ignored').waitFor()
  await checkScreen(page, 'import')
  await page.getByRole('button', { name: 'Import 2 campaigns' }).click()
  await page.getByText('2 campaigns were imported.').waitFor()
  await page.getByRole('button', { name: 'Done' }).click()
  await page.getByRole('link', { name: 'Spring' }).waitFor()
  await checkScreen(page, 'list')
  for (const [name, first] of [
    ['CSV', '\ufeffCampaign ID,'],
    ['XLSX', 'PK'],
  ] as const) {
    const [download] = await Promise.all([
      page.waitForEvent('download'),
      page.getByRole('link', { name, exact: true }).click(),
    ])
    expect(download.suggestedFilename()).toBe(`campaigns.${name.toLowerCase()}`)
    const chunks = await Array.fromAsync(await download.createReadStream())
    expect(Buffer.concat(chunks).toString().startsWith(first)).toBe(true)
  }
})
