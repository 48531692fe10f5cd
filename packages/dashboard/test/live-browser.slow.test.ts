import { embed } from '@influencer-stats/runtime/embed'
import { startProcessClock } from '@influencer-stats/runtime/testing/process-clock'
import { waitUntil } from '@influencer-stats/runtime/testing/wait-until'
import { createStatsClient } from '@influencer-stats/stats/client'
import { createControl } from '@influencer-stats/youtube/client'
import { youtube } from '@influencer-stats/youtube/service'
import type { ServerResponse } from 'node:http'
import type { Page } from 'playwright-core'
import { expect, it, onTestFinished } from 'vitest'
import { openPage } from './support/browser.ts'
import { sendRequest } from './support/test-stack.ts'
import { startProcesses } from './support/processes.ts'
import { serve } from './support/fake-service.ts'

const VIDEOS = ['1FEFpk-uIYo', 'abcdefghijk']
const HOUR_MS = 3_600_000
/** Maximum time until a page reports an unavailable service (ms). */
const DETECTION_MS = 15_000

const NAMES = ['sse', 'stats', 'prices', 'kv', 'dashboard'] as const
type ServiceName = (typeof NAMES)[number]

/** Starts all services with the stand-in, which runs in this process. */
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

it(
  'every open page names a service that is unavailable within 15 s, and recovers without a reload',
  { timeout: 300_000 },
  async () => {
    const stack = await startServices()
    await stack.control.freezeClock(Date.now())
    await stack.stats.put('a', { videos: VIDEOS, name: 'Spring' })
    const { path } = (await sendRequest(`${stack.url}/links`, 'POST', { body: { campaign: 'a', days: 1 } })).body
    const pages: Page[] = await Promise.all(
      ['/', '/campaigns/a', '/compare?c=a&c=b', '/prices', '/health', path].map(async (readPosition: string) => {
        const page = await openPage()
        await page.goto(stack.url + readPosition)
        await page.evaluate('globalThis.isSamePage = true')
        return page
      }),
    )
    const [home, , , , , client] = pages as [Page, Page, Page, Page, Page, Page]
    const allLive = async () =>
      (await Promise.all(pages.map((page) => page.locator('.dot.live').first().isVisible()))).every(Boolean) &&
      (await Promise.all(pages.map(async (page) => (await page.locator('.lost').count()) === 0))).every(Boolean)
    await waitUntil(allLive)

    let hours = 0
    async function expectOutage(name: ServiceName, begin: () => unknown, end: () => unknown): Promise<void> {
      // A client's page needs only stats, sse and the dashboard.
      const concerned = name === 'prices' || name === 'kv' ? pages.filter((page) => page !== client) : pages
      const time = startProcessClock()
      await begin()
      for (const page of concerned)
        await page.locator('.lost:has(time)', { hasText: `${name} does not answer` }).waitFor()
      expect([name, time()]).toEqual([name, expect.toSatisfy((ms: number) => ms < DETECTION_MS)])
      if (concerned === pages)
        for (const page of pages) expect([name, await page.locator('header .dot.live').count()]).toEqual([name, 0])
      await end()
      await waitUntil(allLive)
      const before = (await stack.stats.getStats('a'))!.impressions
      await stack.control.freezeClock(Date.now() + (hours += 100) * HOUR_MS)
      const right = async (page: Page, selector: string) => {
        const shown = Number((await page.locator(selector).first().innerText()).replace(/\D/g, ''))
        return shown === (await stack.stats.getStats('a'))!.impressions
      }
      await waitUntil(async () => (await stack.stats.getStats('a'))!.impressions > before)
      await waitUntil(() => right(home, 'tbody .moving'))
      await waitUntil(() => right(client, '.card strong'))
      for (const page of pages) expect(await page.evaluate('globalThis.isSamePage')).toBe(true)
    }
    const killed = (name: ServiceName) =>
      expectOutage(
        name,
        () => stack.kill(name),
        () => stack.start(name),
      )
    const frozen = (name: ServiceName) =>
      expectOutage(
        name,
        () => stack.freeze(name),
        () => stack.thaw(name),
      )
    await killed('stats')
    await frozen('stats')
    await killed('sse')
    await frozen('sse')
    await killed('prices')
    await killed('kv')
    await killed('dashboard')
    await frozen('dashboard')
  },
)

it('an outage of YouTube outlasts a restart of stats on an open page, until a call has succeeded', async () => {
  let answer = (_ids: readonly string[], response: ServerResponse) => void response.writeHead(503).end('{}')
  const youtubeUri = await serve((request, response) => {
    answer(new URL(request.url!, 'http://youtube').searchParams.getAll('id').join(',').split(','), response)
  })
  const { start, kill, uriOf } = await startProcesses({
    names: ['sse', 'stats', 'dashboard'],
    settings: (uri) => ({
      sse: {},
      stats: { youtubeUri, sseUri: uri('sse'), refreshInterval: 200, dailyBudget: 0, upstreamTimeout: 60_000 },
      dashboard: { statsUri: uri('stats'), sseUri: uri('sse'), demo: 'off' },
    }),
  })
  const stats = createStatsClient(uriOf('stats'))
  await stats.put('a', { videos: VIDEOS, name: 'Spring' })
  const page = await openPage()
  await page.goto(uriOf('dashboard'))
  const fault = page.locator('.lost', { hasText: 'YouTube returns no numbers' }).first()
  await fault.waitFor()

  await kill('stats')
  const called = Promise.withResolvers<void>()
  const release = Promise.withResolvers<void>()
  answer = (ids, response) => {
    called.resolve()
    const items = ids.map((id) => ({ id, statistics: { viewCount: '7', likeCount: '2', commentCount: '1' } }))
    void release.promise.then(() => response.end(JSON.stringify({ kind: 'youtube#videoListResponse', items })))
  }
  await start('stats')
  await called.promise
  await page.waitForResponse(async (reply) => {
    if (new URL(reply.url()).pathname !== '/status') return false
    return (await reply.json()).upstream?.state === 'unknown'
  })
  const polled = () => page.waitForResponse((reply) => new URL(reply.url()).pathname === '/status')
  for (let i = 0; i < 2; i++) {
    await polled()
    expect(await page.locator('header .dot.live').count()).toBe(0)
    expect(await fault.isVisible()).toBe(true)
  }
  release.resolve()
  await page.locator('header .dot.live').waitFor()
  expect(await page.locator('.lost').count()).toBe(0)
})
