import { sse } from '@influencer-stats/sse/service'
import { createStatsClient } from '@influencer-stats/stats/client'
import { stats } from '@influencer-stats/stats/service'
import { waitUntil } from '@influencer-stats/runtime/testing/wait-until'
import { expect, it } from 'vitest'
import { dashboard } from '../src/service.ts'
import { checkAccessibility, openPage } from './support/browser.ts'
import { serve } from './support/fake-service.ts'
import { start } from './support/start-service.ts'

const HOUR_MS = 3_600_000
const DAY_MS = 24 * HOUR_MS
const ZONE = 'Europe/Berlin'
const [A, B, C] = ['1FEFpk-uIYo', 'abcdefghijk', 'C1FEFpkuIYo'] as const
const VIEWS_PER_HOUR = 120
/** Views of the second video when an edit adds it. */
const ADDED_VIEWS = 50_000
/** Folder for screenshots; by default none is taken. */
const SHOTS = process.env.RESULTS_SHOTS

/** The day in the zone of the pages. Late in the evening, the day in UTC is the one before. */
const toDay = (at: number) => new Date(at).toLocaleDateString('sv-SE', { timeZone: ZONE })

/** Lines of an export with two campaigns and their histories, which grow by the same number of views in every hour. */
function buildLines(now: number, source: string) {
  const first = now - 60 * DAY_MS
  const edited = now - 25 * DAY_MS
  const views = (at: number) => 10_000 + Math.round(((at - first) / HOUR_MS) * VIEWS_PER_HOUR)
  const campaigns = [
    { id: 'spring', name: 'Spring, sparkling water', from: toDay(now - 45 * DAY_MS), to: toDay(now - 15 * DAY_MS) },
    { id: 'summer', name: 'Summer', from: toDay(now - 10 * DAY_MS), to: toDay(now + 20 * DAY_MS) },
  ]
  const lines = campaigns.flatMap((campaign) => {
    const isEdited = campaign.id === 'spring'
    const toPoint = (at: number) => {
      const hasAdded = isEdited && at >= edited
      const added = { impressions: ADDED_VIEWS, engagements: 0, score: 0, videos: 1 }
      const likes = Math.round(views(at) / 20)
      const sums = { impressions: views(at) + (hasAdded ? ADDED_VIEWS : 0), engagements: likes, score: 2 * likes }
      return { at, ...sums, videos: hasAdded ? 2 : 1, ...(hasAdded && { added }) }
    }
    const times: number[] = []
    // Daily points until 30 days ago, then one for every six hours.
    for (let day = 60; day >= 0.25; day -= day > 30 ? 1 : 0.25) times.push(now - day * DAY_MS)
    const points = times.map(toPoint)
    const { at: asOf, added } = points.at(-1)!
    const toNumbers = (id: string, count: number) => ({ id, views: count, likes: Math.round(count / 20), comments: 0 })
    const videos = isEdited
      ? [toNumbers(A, views(asOf)), { ...toNumbers(B, ADDED_VIEWS), likes: 0 }]
      : [toNumbers(C, views(asOf))]
    const snapshot = { videos, missing: [], asOf, point: { at: asOf, ...(added && { added }) } }
    const collection = { ...campaign, videos: videos.map(({ id }) => id), revision: now * 1_000 }
    return [
      ...points.map((point) => ({ type: 'point', source, collection: campaign.id, point })),
      {
        type: 'collection',
        collection: { ...collection, cost: 12_500, currency: 'EUR' },
        numbers: { [source]: snapshot },
      },
    ]
  })
  return { lines, views }
}

async function startAll() {
  const now = Date.now()
  let views = (_at: number) => 0
  const youtubeUri = await serve((request, response) => {
    const ids = new URL(request.url!, 'http://x').searchParams.get('id')!.split(',')
    const items = ids.map((id) => {
      const count = id === B ? ADDED_VIEWS : views(Date.now())
      const statistics = { viewCount: String(count), likeCount: String(Math.round(count / 20)), commentCount: '0' }
      return { id, statistics: id === B ? { ...statistics, likeCount: '0' } : statistics }
    })
    response.end(JSON.stringify({ kind: 'youtube#videoListResponse', items }))
  })
  const { url: sseUri } = await start(sse, {})
  const { url: statsUri } = await start(stats, { youtubeUri, sseUri, refreshInterval: 500, dailyBudget: 0 })
  const built = buildLines(now, youtubeUri)
  views = built.views
  const body = built.lines.map((line) => JSON.stringify(line)).join('\n')
  const headers = { 'content-type': 'application/x-ndjson' }
  expect((await fetch(`${statsUri}/import`, { method: 'POST', body, headers })).status).toBe(200)
  const { url } = await start(dashboard, { statsUri, sseUri, demo: 'off' })
  return { url, client: createStatsClient(statsUri) }
}

const toCount = (value: number) => `+${value.toLocaleString('en-US')}`

it('shows results within the dates of a campaign and within other days, without edits, and compares them', async () => {
  const { url, client } = await startAll()
  const expected = async (id: string, range: { from?: string; to?: string } = {}) => {
    const results = (await client.getResults(id, { ...range, zone: ZONE }))!
    const hours = (Date.parse(results.end!.at) - Date.parse(results.start!.at)) / HOUR_MS
    // The histories grow evenly, so an oracle needs only the hours between both ends.
    expect(Math.abs(results.growth!.impressions - hours * VIEWS_PER_HOUR)).toBeLessThanOrEqual(3)
    return toCount(results.growth!.impressions)
  }
  const page = await openPage({ timezoneId: ZONE, locale: 'en-US' })
  const shoot = async (name: string) => {
    if (!SHOTS) return
    for (const [width, colorScheme] of [
      [1_280, 'light'],
      [1_280, 'dark'],
      [390, 'light'],
      [390, 'dark'],
    ] as const) {
      await page.setViewportSize({ width, height: 900 })
      await page.emulateMedia({ colorScheme })
      await page.screenshot({ path: `${SHOTS}/${name}-${width}-${colorScheme}.png`, fullPage: true })
    }
    await page.setViewportSize({ width: 1_280, height: 900 })
    await page.emulateMedia({ colorScheme: 'light' })
  }
  const card = page.locator('.card', { hasText: 'Views' }).first()

  await page.goto(`${url}/campaigns/spring`)
  await card.getByText(await expected('spring'), { exact: true }).waitFor()
  await expect.poll(() => card.innerText()).toMatch(/in total/)
  await expect
    .poll(() => page.getByRole('button', { name: 'Campaign dates' }).getAttribute('aria-pressed'))
    .toBe('true')
  await card.getByText('1 video added: 50,000').waitFor()
  // The cost is that of the growth within the dates, which has none of the added views.
  const perThousand = page.locator('.card', { hasText: 'Per thousand views' })
  const grown = Number((await expected('spring')).replace(/\D/g, ''))
  const price = new Intl.NumberFormat('en-US', { style: 'currency', currency: 'EUR' })
  await perThousand.getByText(price.format((12_500 / grown) * 1_000), { exact: true }).waitFor()
  await perThousand.getByText(/^of €12,500(\.00)?, over the growth in this time$/).waitFor()
  await page.locator('.plot canvas').waitFor()
  // The edit is marked in the chart.
  await expect.poll(() => page.locator('.edits li').innerText()).toMatch(/1 video added: 50,000/)
  // The line ends with the growth, without the views of the added video.
  await page.locator('.plot').press('End')
  await expect.poll(() => page.locator('.readout').innerText()).toContain((await expected('spring')).slice(1))
  await expect.poll(() => page.locator('.results').innerText()).toMatch(/estimated between two numbers/)
  expect(await checkAccessibility(page)).toEqual([])
  await shoot('dates')

  await page.getByLabel('Compare with').selectOption({ label: 'Period before' })
  await page.locator('.compared').waitFor()
  await expect.poll(() => page.locator('.compared').innerText()).toMatch(/Period before/)
  await page.getByLabel('Compare with').selectOption({ label: 'Summer' })
  const summer = await expected('summer')
  await page.locator('.compared', { hasText: 'Summer' }).waitFor()
  // Both grow evenly: up to the same time after their starts they have grown alike.
  const { from: begun } = (await client.getResults('summer', { zone: ZONE }))!
  const days = Math.floor((Date.now() - Date.parse(begun)) / DAY_MS)
  await expect
    .poll(() => page.locator('.compared').innerText())
    .toMatch(new RegExp(String.raw`^After ${days} d.*: [+-]?0(\.\d)?%$`))
  await expect.poll(() => page.locator('.readout .value').count()).toBe(2)
  expect(await checkAccessibility(page)).toEqual([])
  await shoot('compared')

  await page.getByLabel('Compare with').selectOption({ label: 'Compare with…' })
  await page.getByRole('button', { name: 'Other days' }).click()
  const [from, to] = [toDay(Date.now() - 20 * DAY_MS), toDay(Date.now() - 18 * DAY_MS)]
  await page.getByLabel('First day').fill(from)
  await page.getByLabel('Last day').fill(to)
  await card.getByText(await expected('spring', { from, to }), { exact: true }).waitFor()
  expect(await card.innerText()).not.toMatch(/added/)
  expect(await checkAccessibility(page)).toEqual([])
  await shoot('days')
  await page.getByLabel('Last day').fill(toDay(Date.now() - 30 * DAY_MS))
  await page.getByText('The last day is before the first day').waitFor()

  // A running campaign: its growth follows the live numbers.
  await page.goto(`${url}/campaigns/summer`)
  const shown = page.locator('.card', { hasText: 'Views' }).locator('strong').first()
  await shown.waitFor()
  const toNumber = (text: string) => Number(text.replace(/[+,]/g, ''))
  await expect.poll(async () => toNumber(await shown.innerText())).toBeGreaterThanOrEqual(toNumber(summer))
  await page.getByRole('button', { name: '7 days' }).click()
  await card.getByText('in 7 days').waitFor()
  await shoot('running')
})

it('shows the results to readers of a share link, in German, too', async () => {
  const { url, client } = await startAll()
  const editor = await openPage()
  await editor.goto(url)
  const link = (await editor.evaluate(async () => {
    const reply = await fetch('/links', {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ campaign: 'spring', days: 7 }),
    })
    return reply.json()
  })) as { path: string }
  const page = await openPage({ locale: 'de-DE', timezoneId: ZONE })
  await page.goto(url + link.path)
  const { growth } = (await client.getResults('spring', { zone: ZONE }))!
  await page
    .locator('.card')
    .first()
    .getByText(`+${growth!.impressions.toLocaleString('de-DE')}`, { exact: true })
    .waitFor()
  await page.getByRole('button', { name: 'Kampagnenzeit' }).waitFor()
  await page.getByLabel('Vergleichen mit').selectOption({ label: 'Zeitraum davor' })
  await page.locator('.compared').waitFor()
  await expect.poll(() => page.getByLabel('Vergleichen mit').locator('option').count()).toBe(2)
  expect(await checkAccessibility(page)).toEqual([])
})

it('compares campaigns from their starts, without edits', async () => {
  const { url, client } = await startAll()
  await client.put('later', { videos: [A], name: 'Later', from: toDay(Date.now() + 9 * DAY_MS) })
  const page = await openPage({ timezoneId: ZONE })
  /** The last values of the lines. */
  const readEnds = async () => {
    await page.locator('.plot').press('End')
    const texts = await page.locator('.readout .value b').allInnerTexts()
    return texts.map((text) => Number(text.replace(/\D/g, '')))
  }
  await page.goto(`${url}/compare?c=spring&c=summer&c=later`)
  await page.getByRole('button', { name: 'From the start' }).click()
  await page.getByText('Later has not begun yet.').waitFor()
  // Both grow evenly: their first seven days are alike, though they are weeks apart.
  const week = 7 * 24 * VIEWS_PER_HOUR
  for (const end of (await readEnds()).slice(0, 2)) expect(Math.abs(end - week)).toBeLessThanOrEqual(3)
  await expect.poll(() => page.locator('.readout .when').innerText()).toBe('7 d')
  await page.getByRole('button', { name: '30 days' }).click()
  const month = 30 * 24 * VIEWS_PER_HOUR
  await waitUntil(async () => Math.abs((await readEnds())[0]! - month) <= 3)
  // The second campaign has only begun.
  const [, younger] = await readEnds()
  expect(younger! / VIEWS_PER_HOUR / 24).toBeGreaterThan(9)
  expect(younger! / VIEWS_PER_HOUR / 24).toBeLessThan(12)
  expect(await checkAccessibility(page)).toEqual([])
})
