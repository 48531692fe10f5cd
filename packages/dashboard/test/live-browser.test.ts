import { embed } from '@influencer-stats/runtime/embed'
import { ownTime } from '@influencer-stats/runtime/testing/own-time'
import { until } from '@influencer-stats/runtime/testing/until'
import { createStatsClient } from '@influencer-stats/stats/client'
import { createControl } from '@influencer-stats/youtube/client'
import { youtube } from '@influencer-stats/youtube/service'
import type { Page } from 'playwright-core'
import { expect, it, onTestFinished } from 'vitest'
import { openPage } from './support/browser.ts'
import { ask } from './support/house.ts'
import { startProcesses } from './support/processes.ts'

const VIDEOS = ['1FEFpk-uIYo', 'abcdefghijk']
const HOUR = 3_600_000
/** How long a page may take to report a service that became unavailable (ms). */
const DETECTION_MS = 15_000

const NAMES = ['sse', 'stats', 'prices', 'kv', 'dashboard'] as const
type ServiceName = (typeof NAMES)[number]

/** All services before the stand-in, which is in this process. */
async function startServices() {
  const standIn = await embed(youtube, {})
  onTestFinished(async () => void (await standIn.stop()))
  const processes = await startProcesses({
    names: NAMES,
    settings: (uriOf) => ({
      sse: {},
      stats: { youtubeUri: standIn.url, sseUri: uriOf('sse'), refreshInterval: 200, dailyBudget: 0 },
      prices: { sample: 'no' },
      kv: {},
      dashboard: {
        statsUri: uriOf('stats'),
        sseUri: uriOf('sse'),
        pricesUri: uriOf('prices'),
        kvUri: uriOf('kv'),
        demo: 'off',
      },
    }),
  })
  return {
    ...processes,
    url: processes.uriOf('dashboard'),
    stats: createStatsClient(processes.uriOf('stats')),
    control: createControl(standIn.url),
  }
}

it('every open page names a service that is unavailable within 15 s, and recovers without a reload', async () => {
  const house = await startServices()
  await house.control.freezeClock(Date.now())
  await house.stats.put('a', { videos: VIDEOS, name: 'Spring' })
  const { path } = (await ask(`${house.url}/links`, 'POST', { body: { campaign: 'a', days: 1 } })).body
  const pages: Page[] = await Promise.all(
    ['/', '/campaigns/a', '/compare?c=a&c=b', '/prices', '/health', path].map(async (place: string) => {
      const page = await openPage()
      await page.goto(house.url + place)
      await page.evaluate('globalThis.isSamePage = true')
      return page
    }),
  )
  const [home, , , , , client] = pages as [Page, Page, Page, Page, Page, Page]
  const allLive = async () =>
    (await Promise.all(pages.map((page) => page.locator('.dot.live').first().isVisible()))).every(Boolean) &&
    (await Promise.all(pages.map(async (page) => (await page.locator('.lost').count()) === 0))).every(Boolean)
  await until(allLive)

  let hours = 0
  async function expectOutage(name: ServiceName, begin: () => unknown, end: () => unknown): Promise<void> {
    // A client's page needs stats, sse and the dashboard alone.
    const concerned = name === 'prices' || name === 'kv' ? pages.filter((page) => page !== client) : pages
    const time = ownTime()
    await begin()
    for (const page of concerned)
      await page.locator('.lost:has(time)', { hasText: `${name} does not answer` }).waitFor()
    expect([name, time()]).toEqual([name, expect.toSatisfy((ms: number) => ms < DETECTION_MS)])
    if (concerned === pages)
      for (const page of pages) expect([name, await page.locator('header .dot.live').count()]).toEqual([name, 0])
    await end()
    await until(allLive)
    const before = (await house.stats.stats('a'))!.impressions
    await house.control.freezeClock(Date.now() + (hours += 100) * HOUR)
    const right = async (page: Page, selector: string) => {
      const shown = Number((await page.locator(selector).first().innerText()).replace(/\D/g, ''))
      return shown === (await house.stats.stats('a'))!.impressions
    }
    await until(async () => (await house.stats.stats('a'))!.impressions > before)
    await until(() => right(home, 'tbody .moving'))
    await until(() => right(client, '.card strong'))
    for (const page of pages) expect(await page.evaluate('globalThis.isSamePage')).toBe(true)
  }
  const killed = (name: ServiceName) =>
    expectOutage(
      name,
      () => house.kill(name),
      () => house.start(name),
    )
  const frozen = (name: ServiceName) =>
    expectOutage(
      name,
      () => house.freeze(name),
      () => house.thaw(name),
    )
  await killed('stats')
  await frozen('stats')
  await killed('sse')
  await frozen('sse')
  await killed('prices')
  await killed('kv')
  await killed('dashboard')
  await frozen('dashboard')
})
