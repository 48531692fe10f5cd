import { waitUntil } from '@influencer-stats/runtime/testing/wait-until'
import { expect, it } from 'vitest'
import type { Page } from 'playwright-core'
import { checkAccessibility, COLOURS, openPage } from './support/browser.ts'
import { startStack } from './support/test-stack.ts'

const CHANNEL = { id: 'UC0007000700070007000700', handle: '@channel7', title: 'Channel 7' }
const PLAYLIST = `PL${'0007'.repeat(8)}`
const NOON = Date.UTC(2026, 2, 10, 12)
const DATES = { from: '2026-03-10', to: '2099-12-31' }
const SHOTS = process.env.SHOTS

/** Fails if axe finds a violation in light or in dark, or the page is wider than a phone. */
async function check(page: Page, name: string): Promise<void> {
  const faults: string[] = []
  for (const colorScheme of ['light', 'dark'] as const) {
    await page.emulateMedia({ colorScheme })
    faults.push(...(await checkAccessibility(page, colorScheme === 'light' ? undefined : COLOURS)))
    if (SHOTS) await page.screenshot({ path: `${SHOTS}/${name}-${colorScheme}.png`, fullPage: true })
  }
  await page.setViewportSize({ width: 390, height: 800 })
  // The chart is drawn again.
  await waitUntil(async () => (await page.evaluate<number>('document.documentElement.scrollWidth')) <= 390)
  if (SHOTS) await page.screenshot({ path: `${SHOTS}/${name}-390.png`, fullPage: true })
  await page.setViewportSize({ width: 1_280, height: 800 })
  await page.emulateMedia({ colorScheme: 'light' })
  expect(faults).toEqual([])
}

it('sources are added, changed and removed on the campaign, with what each one added and its problem', async () => {
  const { url, stats, control } = await startStack({ sourceInterval: 200 })
  await control.freezeClock(NOON)
  const gone = { type: 'channel' as const, id: 'UC7777777777777777777777', title: 'Gone' }
  await stats.put('a', { videos: [], ...DATES, name: 'Spring', sources: [gone] })
  const page = await openPage()
  await page.goto(`${url}/campaigns/a?tab=sources`)
  await page.getByText('YouTube lists no uploads of this channel').waitFor()
  await page.getByLabel('@handle or id').fill(CHANNEL.handle)
  await page.getByLabel('Only uploads with').fill('#spring, #ad')
  await page.getByRole('button', { name: 'Follow' }).click()
  const row = page.locator('.sources tr', { has: page.getByRole('link', { name: CHANNEL.title, exact: true }) })
  await row.getByText('only with #spring, #ad').waitFor()
  await page.getByLabel('@handle or id').fill('@channel9999')
  await page.getByRole('button', { name: 'Follow' }).click()
  await page.getByText('YouTube has no such channel or playlist').waitFor()
  await page.getByLabel('@handle or id').fill(`https://www.youtube.com/playlist?list=${PLAYLIST}`)
  await page.getByRole('button', { name: 'Follow' }).click()
  await waitUntil(async () => (await stats.get('a'))!.sources!.length === 3)
  const video = { id: 'upload-1111', title: 'Our look #spring' }
  await control.addUploads({ channel: CHANNEL.id, videos: [video] })
  await row.locator('td.number', { hasText: '1' }).waitFor()
  await row.getByText('Checked').waitFor()
  await check(page, 'sources')

  await page.getByRole('button', { name: `Edit ${CHANNEL.title}` }).click()
  await page.locator('dialog [name=contains]').fill('#summer')
  await check(page, 'source-words')
  await page.getByRole('button', { name: 'Save' }).click()
  await row.getByText('only with #summer').waitFor()
  await page.getByRole('button', { name: 'Remove Gone' }).click()
  await page.getByText('Gone').waitFor({ state: 'detached' })
  expect((await stats.get('a'))!.sources).toMatchObject([
    { type: 'channel', id: CHANNEL.id, contains: ['#summer'] },
    { type: 'playlist', id: PLAYLIST },
  ])
  await page.getByRole('button', { name: 'Videos', exact: true }).click()
  await page.locator('.videos tr', { hasText: video.title }).getByText('Added automatically').waitFor()
  await check(page, 'followed-videos')
})

it('a new campaign follows channels and playlists of its paste, also by a handle', async () => {
  const { url, stats } = await startStack()
  const page = await openPage()
  await page.goto(url)
  const playlist = `https://www.youtube.com/playlist?list=${PLAYLIST}`
  const links = `https://www.youtube.com/${CHANNEL.handle}\n${playlist}`
  await page.getByLabel('YouTube links').fill(links)
  for (const link of links.split('\n')) await page.getByRole('button', { name: `Follow ${link}` }).click()
  await page.getByText('2 sources', { exact: true }).waitFor()
  await page.getByRole('button', { name: `Do not follow ${playlist}` }).click()
  await page.getByText('1 source', { exact: true }).waitFor()
  await check(page, 'new-sources')
  await page.getByRole('button', { name: 'Start campaign' }).click()
  await page.waitForURL(/\/campaigns\/\w+$/)
  const id = page.url().split('/').at(-1)!
  expect(await stats.get(id)).toMatchObject({ videos: [], sources: [{ type: 'channel', id: CHANNEL.id }] })
  const field = page.getByLabel('Links of videos to add')
  await field.fill('https://www.youtube.com/@channel8')
  await page.getByRole('button', { name: 'Follow https://www.youtube.com/@channel8' }).click()
  await page.getByText('Already in the campaign').waitFor()
  expect((await stats.get(id))!.sources).toHaveLength(2)
})
