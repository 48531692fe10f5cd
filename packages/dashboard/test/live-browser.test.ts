import { embed } from '@influencer-stats/runtime/embed'
import { freePort } from '@influencer-stats/runtime/testing/free-port'
import { ownTime } from '@influencer-stats/runtime/testing/own-time'
import { spawnService, type ServiceProcess } from '@influencer-stats/runtime/testing/service-process'
import { temporaryFolder } from '@influencer-stats/runtime/testing/temporary'
import { until } from '@influencer-stats/runtime/testing/until'
import { createStatsClient } from '@influencer-stats/stats/client'
import { createControl } from '@influencer-stats/youtube/client'
import { youtube } from '@influencer-stats/youtube/service'
import type { Page } from 'playwright-core'
import { expect, it, onTestFinished } from 'vitest'
import { openPage } from './support/browser.ts'
import { ask } from './support/house.ts'

const VIDEOS = ['1FEFpk-uIYo', 'abcdefghijk']
const HOUR = 3_600_000
/** How long a page may take to report a service that became unavailable (ms). */
const DETECTION_MS = 15_000

type ServiceName = 'stats' | 'sse' | 'prices' | 'kv' | 'dashboard'

/** All services in processes of their own, each of which can be killed, frozen and started again at the same address. */
async function startProcesses() {
  const standIn = await embed(youtube, {})
  onTestFinished(async () => void (await standIn.stop()))
  const names: readonly ServiceName[] = ['sse', 'stats', 'prices', 'kv', 'dashboard']
  const ports = Object.fromEntries(await Promise.all(names.map(async (name) => [name, await freePort()])))
  const uriOf = (name: ServiceName) => `http://127.0.0.1:${ports[name]}`
  const own: Record<ServiceName, Record<string, string | number>> = {
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
  }
  const settings = Object.fromEntries(names.map((name) => [name, { data: temporaryFolder(), ...own[name] }]))
  const running = new Map<ServiceName, ServiceProcess>()
  const start = async (name: ServiceName) =>
    void running.set(name, await spawnService(name, { port: ports[name], ...settings[name] }))
  for (const name of names) await start(name)
  return {
    url: uriOf('dashboard'),
    stats: createStatsClient(uriOf('stats')),
    control: createControl(standIn.url),
    kill: (name: ServiceName) => running.get(name)!.end('SIGKILL'),
    freeze: (name: ServiceName) => void process.kill(running.get(name)!.pid, 'SIGSTOP'),
    thaw: (name: ServiceName) => void process.kill(running.get(name)!.pid, 'SIGCONT'),
    start,
  }
}

it('every open page names a service that is unavailable within 15 s, and recovers without a reload', async () => {
  const house = await startProcesses()
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
