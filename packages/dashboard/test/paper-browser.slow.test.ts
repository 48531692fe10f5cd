import { waitUntil } from '@influencer-stats/runtime/testing/wait-until'
import { expect, it } from 'vitest'
import { openPage } from './support/browser.ts'
import { sendRequest, startStack } from './support/test-stack.ts'

const VIDEOS = ['1FEFpk-uIYo', 'a00-xYz_Q7w']
/** Width of A4 paper without its margins (CSS px). */
const PAPER_WIDTH = 680

it('the page for clients on paper has its numbers, its date and light colours, and no controls', async () => {
  const { url, stats } = await startStack()
  await stats.put('spring', { videos: VIDEOS, name: 'Spring' })
  const { channel: title, channelId: channel } = await waitUntil(async () => {
    const [video] = (await stats.listVideos('spring'))!.videos
    return video!.channelId !== undefined && video!
  })
  const post = await stats.addPost('spring', { url: 'https://www.instagram.com/reel/C1a2b3c4d5e', creator: channel! })
  await stats.reportNumbers('spring', post!.id, { views: 12 })
  const { path } = (await sendRequest(`${url}/links`, 'POST', { body: { campaign: 'spring', days: 1 } })).body

  const page = await openPage({ colorScheme: 'dark', viewport: { width: 1_280, height: 800 } })
  await page.goto(url + path)
  await page.locator('.videos .name').last().waitFor()
  await page.locator('canvas').waitFor()
  const isVisible = (selector: string) => page.locator(selector).first().isVisible()
  const [controls, content] = [
    ['.foot', '.search', '.sections', '.tabs [aria-pressed="false"]', '.side .dot'],
    ['h1', '.card strong', 'canvas', '.tabs [aria-pressed="true"]', '.videos thead th:nth-child(4)'],
  ]
  for (const selector of controls) expect([selector, await isVisible(selector)]).toEqual([selector, true])

  await page.evaluate(`dispatchEvent(new Event('beforeprint'))`)
  await page.emulateMedia({ media: 'print' })
  await page.setViewportSize({ width: PAPER_WIDTH, height: 990 })
  for (const selector of controls) expect([selector, await isVisible(selector)]).toEqual([selector, false])
  for (const selector of content) expect([selector, await isVisible(selector)]).toEqual([selector, true])
  expect(await page.evaluate(`document.documentElement.scrollWidth`)).toBe(PAPER_WIDTH)
  expect(await page.evaluate(`getComputedStyle(document.body).backgroundColor`)).toBe('rgb(255, 255, 255)')
  const day = await page.evaluate(`getComputedStyle(document.querySelector('.side'), '::after').content`)
  expect(day).toContain(String(new Date().getFullYear()))

  await page.evaluate(`dispatchEvent(new Event('afterprint'))`)
  await page.emulateMedia({ media: 'screen' })
  await page.setViewportSize({ width: 1_280, height: 800 })
  expect(await page.evaluate(`getComputedStyle(document.body).backgroundColor`)).not.toBe('rgb(255, 255, 255)')

  // A client knows the channel by its title.
  await page.getByRole('button', { name: 'Posts' }).click()
  await page.locator('.posts', { hasText: title! }).waitFor()
  expect(await page.locator('.posts').innerText()).not.toContain(channel)
})
