import { waitUntil } from '@influencer-stats/runtime/testing/wait-until'
import type { Page } from 'playwright-core'
import { describe, expect, it } from 'vitest'
import { openPage } from './support/browser.ts'
import { startStack } from './support/test-stack.ts'

const VIDEO = '1FEFpk-uIYo'

/** The modules that a page requests, by their path below the root of all files. */
function followModules(page: Page): Set<string> {
  const paths = new Set<string>()
  page.on('request', (request) => {
    const path = /\/assets\/[^/]+\/(.+\.ts)$/.exec(new URL(request.url()).pathname)?.[1]
    if (path) paths.add(path)
  })
  return paths
}

describe('in Chromium', () => {
  it('a screen loads its modules when it is opened, and the page of a client no module for changes', async () => {
    const { url, stats } = await startStack()
    await stats.put('spring', { videos: [VIDEO], name: 'Spring' })
    const page = await openPage()
    const modules = followModules(page)
    await page.goto(url)
    await page.getByRole('link', { name: 'Spring' }).waitFor()
    expect(modules.has('screens/home/home.ts')).toBe(true)
    const others = ['screens/campaign.ts', 'screens/health.ts', 'screens/compare.ts', 'parts/chart.ts']
    expect(others.filter((path) => modules.has(path))).toEqual([])
    await page.getByRole('link', { name: 'Spring' }).click()
    await page.getByRole('heading', { name: 'Spring' }).waitFor()
    expect(modules.has('screens/campaign.ts')).toBe(true)
    await page.getByRole('button', { name: 'Share' }).click()
    await page.getByRole('button', { name: 'Create a link' }).click()
    const link = await page.getByLabel('Link', { exact: true }).inputValue()

    const client = await openPage()
    const read = followModules(client)
    await client.goto(link)
    await client.getByRole('heading', { name: 'Spring' }).waitFor()
    await client.locator('.videos .name').first().waitFor()
    expect(
      [...read].filter((path) => /screens\/(campaign|home|creators)\/.*(form|links|home|creators)\.ts/.test(path)),
    ).toEqual([])
  })

  it('a screen that cannot be loaded says so, and appears after another try', async () => {
    const { url } = await startStack()
    const page = await openPage()
    await page.goto(url)
    await page
      .getByRole('heading', { name: 'Follow your first campaign' })
      .or(page.locator('main h1'))
      .first()
      .waitFor()
    await page.route('**/*', (route) => route.abort())
    await page.getByRole('link', { name: 'Health' }).click()
    const fault = page.getByRole('alert').filter({ hasText: 'could not be loaded' })
    await fault.waitFor()
    // Without an answer the page stays.
    const retry = page.getByRole('button', { name: 'Try again' })
    await retry.click()
    await waitUntil(async () => retry.isEnabled())
    await fault.waitFor()
    await page.unroute('**/*')
    await retry.click()
    await page.getByRole('heading', { name: 'Health', level: 1 }).waitFor()
    expect(await fault.count()).toBe(0)
  })

  it('a page of the version before an update loads the new one at the next try', async () => {
    const { url } = await startStack()
    const page = await openPage()
    await page.goto(url)
    await page.locator('main h1').waitFor()
    // An updated server no longer has the files of this page.
    await page.route('**/screens/health.ts', (route) => route.fulfill({ status: 404, body: '{}' }))
    await page.getByRole('link', { name: 'Health' }).click()
    await page.getByRole('alert').filter({ hasText: 'could not be loaded' }).waitFor()
    const loaded = page.waitForEvent('load')
    // The new page has other files.
    await page.route(`${url}/health`, async (route) => {
      await page.unroute('**/screens/health.ts')
      await route.continue()
    })
    await page.getByRole('button', { name: 'Try again' }).click()
    await loaded
    await page.getByRole('heading', { name: 'Health', level: 1 }).waitFor()
  })
})
