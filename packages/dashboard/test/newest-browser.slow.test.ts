import { setTimeout as delay } from 'node:timers/promises'
import { waitUntil } from '@influencer-stats/runtime/testing/wait-until'
import { createPublisherClient } from '@influencer-stats/sse/publisher-client'
import { sse } from '@influencer-stats/sse/service'
import type { Page } from 'playwright-core'
import { expect, it, onTestFinished } from 'vitest'
import { dashboard } from '../src/service.ts'
import { openPage } from './support/browser.ts'
import { serve } from './support/fake-service.ts'
import { start } from './support/start-service.ts'

const REPLY_DELAY_MS = 1_000
const VALUE_INTERVAL_MS = 300
const CREATED = '2026-03-01T00:00:00.000Z'
const at = (minutes: number) => new Date(Date.now() + 60_000 * minutes).toISOString()

/** Starts with a campaign whose API replies are older than the values of its stream, like those of a node that lags. */
async function startWithProxy() {
  const sums = { impressions: 100, engagements: 10, score: 10, videos: 1, missing: [], stale: false, asOf: at(0) }
  const growth = { impressions: 5, engagements: 1, score: 1, since: at(-60) }
  const change = { '24h': growth, '7d': growth, '30d': growth }
  const row = { id: 'a', name: 'Spring', version: '1', created: CREATED, videos: ['1FEFpk-uIYo'], stats: sums, change }
  const statsUri = await serve((request, response) => {
    const replies: Record<string, unknown> = {
      '/readyz': { status: 'ready' },
      '/collections': { collections: [row], total: 1 },
      '/collections/a': row,
      '/collections/a/videos': { videos: [], asOf: sums.asOf, stale: false },
      '/collections/a/stats/history': { points: [] },
    }
    const reply = replies[request.url!.split('?')[0]!]
    response.writeHead(reply ? 200 : 404, { 'content-type': 'application/json' })
    response.end(JSON.stringify(reply ?? { code: 'NOT_FOUND' }))
  })
  const { url: sseUri } = await start(sse, {})
  const broadcaster = createPublisherClient(sseUri)
  onTestFinished(() => broadcaster.close())
  const put = (id: string, value: object) =>
    broadcaster.put(`collections/${id}`, JSON.stringify({ ...sums, id, created: CREATED, ...value }))
  return { row, put, url: (await start(dashboard, { statsUri, sseUri, demo: 'off' })).url }
}

const views = async (page: Page, selector: string) =>
  Number((await page.locator(selector).first().innerText()).replace(/\D/g, ''))

it('a list that is read again shows no sum that is older than a value of its stream', async () => {
  const { row, put, url } = await startWithProxy()
  const page = await openPage()
  await page.goto(url)
  await page.locator('.dot.live').waitFor()
  await put('a', { impressions: 130, asOf: at(1) })
  await waitUntil(async () => (await views(page, 'tbody .moving')) === 130)
  // A campaign that the page does not know makes it read the list again.
  row.name = 'Renamed'
  await put('b', {})
  await page.getByRole('link', { name: 'Renamed' }).waitFor()
  expect(await views(page, 'tbody .moving')).toBe(130)
  await expect.poll(() => page.locator('tbody .change').first().innerText()).toMatch(/35/)
})

it('a campaign that is read again shows no sum that is older than a value of its stream', async () => {
  const { row, put, url } = await startWithProxy()
  const page = await openPage()
  await page.goto(`${url}/campaigns/a`)
  await page.locator('.dot.live').waitFor()
  await put('a', { impressions: 130, asOf: at(1) })
  await waitUntil(async () => (await views(page, '.card strong')) === 130)
  // A changed basis: the page must read the campaign again.
  row.name = 'Renamed'
  await put('a', { impressions: 140, asOf: at(2), hidden: { likes: 1 } })
  await page.getByRole('heading', { name: 'Renamed' }).waitFor()
  expect(await views(page, '.card strong')).toBe(130)
  // An edit creates new sums, as old as their oldest number.
  Object.assign(row, { name: 'Edited', videos: ['1FEFpk-uIYo', 'abcdefghijk'] })
  Object.assign(row.stats, { impressions: 120, videos: 2 })
  await put('a', { impressions: 120, asOf: at(3), videos: 2, hidden: { likes: 1 } })
  await page.getByRole('heading', { name: 'Edited' }).waitFor()
  expect(await views(page, '.card strong')).toBe(120)
})

it('a campaign is read again although its values come faster than replies', async () => {
  const { row, put, url } = await startWithProxy()
  const page = await openPage()
  await page.route('**/api/stats/collections/a*', async (route) => {
    await delay(REPLY_DELAY_MS)
    await route.continue().catch(() => {})
  })
  await page.goto(`${url}/campaigns/a`)
  await page.locator('.dot.live').waitFor()
  await page.getByRole('heading', { name: 'Spring' }).waitFor()
  row.name = 'Renamed'
  // A value with another number of videos makes the page read the campaign again.
  let values = 0
  const timer = setInterval(() => void put('a', { videos: 2, asOf: at(++values / 100) }), VALUE_INTERVAL_MS)
  onTestFinished(() => clearInterval(timer))
  await page.getByRole('heading', { name: 'Renamed' }).waitFor()
})
