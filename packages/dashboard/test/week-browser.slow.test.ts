import { readFileSync } from 'node:fs'
import { hasFaketime } from '@influencer-stats/runtime/testing/faketime'
import { waitUntil } from '@influencer-stats/runtime/testing/wait-until'
import { expect, it } from 'vitest'
import type { Page } from 'playwright-core'
import { startAgencyWeek } from './support/week/agency.ts'
import { buildSheet, CREATOR, CREATOR_VIDEOS, VIDEOS } from './support/week/sheet.ts'

const CHANNEL_LINK = `https://www.youtube.com/channel/${CREATOR.id}`
const PLAYLIST = `PL${'0008'.repeat(8)}`
const PLAYLIST_LINK = `https://www.youtube.com/playlist?list=${PLAYLIST}`
const PLAYLIST_CHANNEL = 'UC0008000800080008000800'
const TIKTOK_LINK = 'https://www.tiktok.com/@person/video/7123456789012345678'
const SHOTS = process.env.SHOTS

const countStates = (page: Page) =>
  page.locator('.preview tr[data-state]').evaluateAll((rows) =>
    Object.fromEntries(
      Map.groupBy(rows, (row: any) => row.dataset.state as string)
        .entries()
        .map(([state, all]) => [state, all.length]),
    ),
  )

/**
 * Returns the lines of an export without its checksum, the used units, and what is known of playlists: a service reads the
 * playlists of imported campaigns again.
 */
const readLines = (file: string) =>
  readFileSync(file, 'utf8')
    .split('\n')
    .filter((line) => !/^{"lines":|^{"type":"usage"|"kind":"feed"/.test(line))

/** Stores a picture of the whole page in the folder `SHOTS`, for a person to inspect. */
async function look(page: Page, name: string): Promise<void> {
  if (SHOTS) await page.screenshot({ path: `${SHOTS}/week-${name}.png`, fullPage: true })
}

it.skipIf(!hasFaketime)("an agency's week", { timeout: 600_000 }, async () => {
  const agency = await startAgencyWeek()
  const { stats, control, clock, open, passDay } = agency
  const readCampaign = async (id: string) => (await stats.get(id))!

  // Monday: a sheet becomes a campaign; its bad rows state their reasons.
  const page = await open('/')
  await page.getByLabel('YouTube links').fill(buildSheet())
  await page.getByText('51 videos', { exact: true }).waitFor()
  await waitUntil(async () => (await countStates(page)).refused === 8)
  expect(await countStates(page)).toEqual({ new: 51, refused: 8, duplicate: 1 })
  await look(page, 'monday')
  await page.getByLabel('Name').first().fill('Spring')
  await page.getByRole('button', { name: 'Start campaign' }).click()
  await page.waitForURL(/\/campaigns\/\w+$/)
  const spring = page.url().split('/').at(-1)!
  expect((await readCampaign(spring)).videos).toEqual(VIDEOS)
  await waitUntil(async () => (await stats.getStats(spring))?.videos === VIDEOS.length)
  await page.locator('.videos .name').first().waitFor()

  // Tuesday: the campaign follows a channel and a playlist.
  await passDay()
  await page.getByRole('button', { name: 'Sources', exact: true }).click()
  for (const [i, link] of [CHANNEL_LINK, PLAYLIST_LINK].entries()) {
    await page.getByLabel('@handle or id').fill(link)
    // The stand-in invents uploads too: only those of the campaign count.
    await page.getByLabel('Only uploads with').fill('#spring')
    await page.getByRole('button', { name: 'Follow' }).click()
    await page.getByText('only with #spring').nth(i).waitFor()
  }
  expect((await readCampaign(spring)).sources).toMatchObject([
    { type: 'channel', id: CREATOR.id, contains: ['#spring'] },
    { type: 'playlist', id: PLAYLIST, contains: ['#spring'] },
  ])
  await look(page, 'tuesday')

  // Wednesday: three uploads arrive.
  await passDay()
  const uploads = ['weekupload1', 'weekupload2', 'weekupload3']
  const toUpload = (id: string) => ({ id, title: `Look ${id} #spring`, at: clock.now() })
  await control.addUploads({ channel: CREATOR.id, videos: uploads.slice(0, 2).map(toUpload) })
  await control.addUploads({ channel: PLAYLIST_CHANNEL, videos: uploads.slice(2).map(toUpload) })
  await control.addUploads({ playlist: PLAYLIST, videos: uploads.slice(2).map((id) => ({ id, at: clock.now() })) })
  await waitUntil(async () => Object.keys((await readCampaign(spring)).followed ?? {}).length === 3)
  expect((await readCampaign(spring)).followed).toEqual({
    [uploads[0]!]: CREATOR.id,
    [uploads[1]!]: CREATOR.id,
    [uploads[2]!]: PLAYLIST,
  })
  await page.getByRole('button', { name: 'Videos', exact: true }).click()
  for (const id of uploads)
    await page
      .locator('.videos tr', { hasText: `Look ${id} #spring` })
      .getByText(/Added (by|automatically)/)
      .waitFor()
  await look(page, 'wednesday')

  // Thursday: a video vanishes; its last numbers remain in the sums.
  await passDay()
  const lost = CREATOR_VIDEOS[1]
  await control.setFaults({ gone: [lost] })
  await waitUntil(async () => (await stats.getStats(spring))?.gone?.some(({ id }) => id === lost))
  await page
    .getByText(/^Removed since/)
    .first()
    .waitFor()
  expect((await stats.getStats(spring))!.videos).toBe(VIDEOS.length + 3)
  await look(page, 'thursday')

  // Friday and the day after: a person reports the numbers of a post on TikTok.
  await passDay()
  await page.getByRole('button', { name: 'Posts', exact: true }).click()
  await page.getByLabel('Links of posts to add').fill(TIKTOK_LINK)
  await page.getByRole('button', { name: 'Add', exact: true }).click()
  for (const [views, likes] of [
    [10_000, 900],
    [25_000, 2_150],
  ]) {
    await page.getByRole('button', { name: 'Numbers of @' }).click()
    const dialog = page.locator('dialog')
    await dialog.getByLabel('Views').fill(String(views))
    await dialog.getByLabel('Likes').fill(String(likes))
    await dialog.getByRole('button', { name: 'Save numbers' }).click()
    await dialog.getByText(`Views ${views!.toLocaleString('en-US')}`).waitFor()
    await page.keyboard.press('Escape')
    await dialog.waitFor({ state: 'detached' })
    await page.locator('.card', { hasText: 'Reported views' }).getByText(views!.toLocaleString('en-US')).waitFor()
    await passDay()
  }
  const [post] = (await stats.listPosts(spring))!
  expect(await stats.listNumbers(spring, post!.id)).toMatchObject([{ views: 10_000 }, { views: 25_000 }])
  const { reported, impressions } = (await stats.getStats(spring))!
  expect(reported).toMatchObject({ impressions: 25_000, engagements: 2_150, posts: 1 })
  expect(impressions).toBeGreaterThan(25_000)
  await look(page, 'friday')

  // Saturday: the fees of a creator in two campaigns, and what a thousand views cost in each.
  await page.goto(`${agency.url}/campaigns/${spring}?tab=creators`)
  await page.getByRole('button', { name: 'Edit fees' }).click()
  await page.getByLabel(`Fee of ${CREATOR.title}`, { exact: true }).fill('900')
  await page.getByRole('button', { name: 'Save' }).click()
  await page
    .getByRole('region', { name: 'Creators' })
    .getByText(/^900(\.00)?$/)
    .waitFor()
  await page.goto(agency.url)
  await page.getByRole('button', { name: 'Import a sheet' }).click()
  const rows = [
    'Campaign,Link,Creator,Fee',
    ...CREATOR_VIDEOS.slice(1).map((id) => `Autumn,https://youtu.be/${id},${CREATOR.title},200`),
  ]
  const buffer = Buffer.from(rows.join('\n'))
  await page.getByLabel('CSV or XLSX file').setInputFiles({ name: 'autumn.csv', mimeType: 'text/csv', buffer })
  await page.getByRole('button', { name: 'Import 1 campaign' }).click()
  await page.getByText('1 campaign was imported.').waitFor()
  await page.getByRole('button', { name: 'Done' }).click()
  const readCreator = async () => (await stats.getCreator(CREATOR.id))!
  const creator = await waitUntil(async () => {
    const found = await readCreator()
    return (
      found.campaigns.every(({ costs }) => costs?.perThousandViews !== undefined) &&
      found.campaigns.length === 2 &&
      found
    )
  })
  for (const { fee, costs, stats: sums } of creator.campaigns)
    expect(costs!.perThousandViews).toBeCloseTo((1_000 * fee!) / sums.impressions, 4)
  expect(creator.campaigns.map(({ fee }) => fee).toSorted()).toEqual([400, 900])
  await page.goto(`${agency.url}/creators/${CREATOR.id}`)
  const campaigns = page.getByRole('region', { name: 'Campaigns' })
  for (const amount of [/^900(\.00)?$/, /^400(\.00)?$/]) await campaigns.getByText(amount).waitFor()
  await look(page, 'saturday')

  // Sunday: after an update of the service, all data goes to an empty one.
  await agency.restartStats()
  await waitUntil(async () => Date.parse((await readCreator()).asOf!) > clock.now() - 60_000)
  const file = await agency.exportData('all')
  const copy = await agency.startCopy(file)
  expect(copy.before.collections).toEqual([])
  const again = await agency.exportData('again', copy.url)
  expect(readLines(again)).toEqual(readLines(file))
  expect(await copy.client.get(spring)).toEqual(await stats.get(spring))
  expect(await copy.client.listPosts(spring)).toEqual(await stats.listPosts(spring))
})
