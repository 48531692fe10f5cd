import { sendPatiently } from '@influencer-stats/runtime/testing/patient-requests'
import { waitUntil } from '@influencer-stats/runtime/testing/wait-until'
import { createStatsClient } from '@influencer-stats/stats/client'
import { stats } from '@influencer-stats/stats/service'
import { sse } from '@influencer-stats/sse/service'
import { describe, expect, it } from 'vitest'
import { dashboard } from '../src/service.ts'
import { checkAccessibility, openPage } from './support/browser.ts'
import { sendRequest, startStack } from './support/test-stack.ts'
import { UNREACHABLE_URL, serve } from './support/fake-service.ts'
import { start } from './support/start-service.ts'

const VIDEOS = ['1FEFpk-uIYo', 'abcdefghijk']

/** Starts sse, stats and the dashboard before an API of YouTube. */
async function startAll(youtubeUri: string) {
  const { url: sseUri } = await start(sse, {})
  const { url: statsUri } = await start(stats, {
    youtubeUri,
    sseUri,
    refreshInterval: 200,
    dailyBudget: 0,
    logger: 'silent',
  })
  const { url } = await start(dashboard, { statsUri, sseUri, demo: 'off' })
  return { url, statsUri }
}

interface Statistics {
  viewCount?: string
  likeCount?: string
  commentCount?: string
}

/** A YouTube API with the statistics of a test. It omits ids without statistics from its reply. */
async function startYouTube(videos: Map<string, Statistics>) {
  return serve((request, response) => {
    const ids = new URL(request.url!, UNREACHABLE_URL).searchParams.get('id')?.split(',') ?? []
    const items = ids.flatMap((id) => {
      const statistics = videos.get(id)
      return statistics ? [{ kind: 'youtube#video', id, statistics, snippet: { title: `Video ${id}` } }] : []
    })
    response.setHeader('content-type', 'application/json')
    response.end(JSON.stringify({ kind: 'youtube#videoListResponse', items }))
  })
}

describe('an address', () => {
  it('without a screen shows a page with a link to the campaigns', async () => {
    const stack = await startStack()
    await stack.stats.put('a', { videos: [VIDEOS[0]!], name: 'Spring' })
    const page = await openPage()
    await page.goto(`${stack.url}/health`)
    for (const path of ['/nope', '/campaigns/a/b', '/campaigns/%E0']) {
      await page.evaluate(
        `history.pushState(null, '', ${JSON.stringify(path)}); dispatchEvent(new PopStateEvent('popstate'))`,
      )
      await page.getByRole('heading', { name: 'There is nothing at this address' }).waitFor()
      expect(await checkAccessibility(page)).toEqual([])
    }
    await page.getByRole('link', { name: 'Campaigns', exact: true }).last().click()
    await page.getByRole('link', { name: 'Spring' }).waitFor()
  })

  it('restores its list, scroll position, filters and selection after Back', async () => {
    const stack = await startStack()
    const total = 130
    const ids = Array.from({ length: total }, (_, i) => `campaign-${String(i).padStart(3, '0')}`)
    await sendPatiently(ids, (id) => stack.stats.put(id, { videos: [VIDEOS[0]!], name: id, tags: ['x'] }))
    const page = await openPage()
    await page.goto(`${stack.url}/?sort=name&tag=x`)
    const rows = page.locator('tbody tr')
    await waitUntil(async () => (await rows.count()) === total)
    await page.getByRole('checkbox', { name: 'Select campaign-120' }).check()
    const position = () => page.evaluate<number>('scrollY')
    for (const leavePage of [
      () => page.getByRole('link', { name: 'campaign-119' }).click(),
      () => page.goto(`${stack.url}/health`),
    ]) {
      await page.mouse.wheel(0, -100)
      await rows.nth(119).scrollIntoViewIfNeeded()
      await waitUntil(() => page.evaluate<boolean>('scrollY > 1_000 && history.state.scroll === scrollY'))
      const before = await position()
      expect(before).toBeGreaterThan(1_000)
      await leavePage()
      await page.locator('main h1', { hasText: /campaign-119|Health/ }).waitFor()
      expect(await position()).toBe(0)
      await page.goBack()
      await waitUntil(async () => (await rows.count()) === total)
      await waitUntil(async () => Math.abs((await position()) - before) < 2)
      expect(page.url()).toBe(`${stack.url}/?sort=name&tag=x`)
      expect(await page.getByRole('checkbox', { name: 'Select campaign-120' }).isChecked()).toBe(true)
    }
  })
})

describe('growth of all campaigns', () => {
  it('names the time that it covers if every campaign is younger than the window', async () => {
    const stack = await startStack()
    for (const id of ['a', 'b']) await stack.stats.put(id, { videos: VIDEOS })
    const page = await openPage()
    await page.goto(stack.url)
    const views = page.locator('.cards > *').first()
    await waitUntil(async () => /in 24 h|since/.test(await views.innerText()))
    expect(await views.innerText()).toMatch(/since \d/)
    expect(await views.innerText()).not.toContain('24 h')
  })
})

describe('Health', () => {
  it('shows unavailable values as unknown', async () => {
    const { url } = await start(dashboard, { statsUri: UNREACHABLE_URL, sseUri: UNREACHABLE_URL, demo: 'off' })
    const page = await openPage()
    await page.goto(`${url}/health`)
    await page.getByText('does not answer').first().waitFor()
    const cards = await page.locator('.cards').innerText()
    expect(cards).not.toMatch(/no limit|all fresh|\b0\b/i)
    expect(cards.match(/unknown/gi)?.length).toBeGreaterThan(2)
    expect(await checkAccessibility(page)).toEqual([])
  })

  it('shows that there is no limit, and the number of fresh numbers, if stats states them', async () => {
    const stack = await startStack()
    await stack.stats.put('a', { videos: VIDEOS })
    const page = await openPage()
    await page.goto(`${stack.url}/health`)
    await page.getByText('no limit').waitFor()
    await page.getByText('all fresh').waitFor()
  })

  it("states Google's reason and the remedy, as do the pages", async () => {
    const youtubeUri = await serve((_request, response) => {
      response.writeHead(403, { 'content-type': 'application/json' })
      const details = [{ '@type': 'type.googleapis.com/google.rpc.ErrorInfo', reason: 'API_KEY_HTTP_REFERRER_BLOCKED' }]
      response.end(JSON.stringify({ error: { code: 403, message: 'Blocked.', status: 'PERMISSION_DENIED', details } }))
    })
    const { url, statsUri } = await startAll(youtubeUri)
    await createStatsClient(statsUri).put('a', { videos: VIDEOS, name: 'Spring' })
    const page = await openPage()
    for (const path of ['/health', '/campaigns/a']) {
      await page.goto(url + path)
      await page.locator('main').getByText('API_KEY_HTTP_REFERRER_BLOCKED').first().waitFor()
      await page.locator('.lost', { hasText: 'YouTube returns no numbers' }).waitFor()
      expect(await page.locator('header .dot.live').count()).toBe(0)
      expect(await checkAccessibility(page)).toEqual([])
    }
  })
})

describe('numbers', () => {
  it('are shown with a clock time', async () => {
    const stack = await startStack()
    await stack.stats.put('a', { videos: VIDEOS, name: 'Spring' })
    const page = await openPage()
    await page.goto(`${stack.url}/campaigns/a`)
    await page.locator('.facts time').waitFor()
    // Numbers are old if a busy machine refreshes late.
    expect(await page.locator('.facts').innerText()).toMatch(/(As of|Old numbers, of) \d{1,2}:\d\d:\d\d/)
    await page.goto(stack.url)
    await page.locator('td.fresh time').waitFor()
    expect(await page.locator('td.fresh').innerText()).toMatch(/^(Old: )?\d{1,2}:\d\d:\d\d/)
  })

  it('that YouTube does not state are a dash with the reason, not a loss', async () => {
    const videos = new Map<string, Statistics>([
      [VIDEOS[0]!, { viewCount: '1000', likeCount: '500', commentCount: '20' }],
      [VIDEOS[1]!, { viewCount: '2000', likeCount: '300', commentCount: '10' }],
    ])
    const youtubeUri = await startYouTube(videos)
    const { url, statsUri } = await startAll(youtubeUri)
    const client = createStatsClient(statsUri)
    await client.put('a', { videos: [...VIDEOS, 'neverexists'], name: 'Spring' })
    await waitUntil(async () => (await client.getStats('a').catch(() => undefined))?.engagements === 830)
    const { path } = (await sendRequest(`${url}/links`, 'POST', { body: { campaign: 'a', days: 1 } })).body
    const [page, shared] = [await openPage(), await openPage()]
    await page.goto(`${url}/campaigns/a`)
    await shared.goto(url + path)
    for (const one of [page, shared]) await one.locator('.card', { hasText: 'Engagements' }).getByText('830').waitFor()
    videos.set(VIDEOS[0]!, { viewCount: '1000', commentCount: '20' })
    for (const one of [page, shared]) {
      await one.getByText('Likes of 1 video are hidden').waitFor()
      const row = one.locator('tr', { hasText: VIDEOS[0]! })
      await row.getByText('Likes hidden (last known: 500 likes)').waitFor()
      await expect.poll(() => row.locator('td.number').allInnerTexts()).toEqual(['1,000', '–', '20'])
      await expect.poll(() => one.locator('.card', { hasText: 'Engagements' }).innerText()).toMatch(/830/)
      await one.locator('tr', { hasText: 'neverexists' }).getByText('Not found on YouTube').waitFor()
      await expect.poll(() => one.locator('.card', { hasText: 'Videos' }).innerText()).toMatch(/1 not found/)
      expect(await one.locator('main').innerText()).not.toMatch(/-500|all counted/)
    }
    expect(await checkAccessibility(page)).toEqual([])
  })

  it('of the stand-in are stated as invented on the screens that show them, and on no other', async () => {
    const stack = await startStack({ dashboard: { pricesUri: UNREACHABLE_URL } })
    await stack.stats.put('a', { videos: VIDEOS, name: 'Spring' })
    const { path } = (await sendRequest(`${stack.url}/links`, 'POST', { body: { campaign: 'a', days: 1 } })).body
    const page = await openPage()
    const shown = []
    for (const screen of ['/', '/campaigns/a', '/compare', path, '/client-links', '/prices', '/health', '/none']) {
      await page.goto(stack.url + screen)
      await page.locator('main h1').waitFor()
      if (await page.getByLabel('Origin of the numbers').count()) shown.push(screen)
    }
    expect(shown).toEqual(['/', '/campaigns/a', '/compare', path])
  })

  it('of a campaign with a new, unknown video are the sums of the other videos', async () => {
    const counts = { viewCount: '1000', likeCount: '500', commentCount: '20' }
    let isOut = false
    const standIn = await startYouTube(new Map(VIDEOS.map((id) => [id, counts])))
    const youtubeUri = await serve(async (request, response) => {
      if (isOut) return void response.writeHead(429, { 'retry-after': '3600' }).end('{}')
      response.setHeader('content-type', 'application/json')
      response.end(await (await fetch(standIn + request.url!)).text())
    })
    const { url, statsUri } = await startAll(youtubeUri)
    const client = createStatsClient(statsUri)
    await client.put('a', { videos: VIDEOS, name: 'Spring' })
    await client.put('b', { videos: VIDEOS, name: 'Autumn' })
    await waitUntil(async () => (await client.getStats('a').catch(() => undefined))?.impressions === 2_000)
    isOut = true
    await waitUntil(async () => (await client.getUpstream()).state === 'paused')
    await client.addVideo('a', 'abcdefghij_')
    const { path } = (await sendRequest(`${url}/links`, 'POST', { body: { campaign: 'a', days: 1 } })).body
    const [page, shared] = [await openPage(), await openPage()]
    await page.goto(`${url}/campaigns/a`)
    await shared.goto(url + path)
    for (const one of [page, shared]) {
      await one.locator('.card', { hasText: 'Views' }).first().getByText('2,000').waitFor()
      await expect.poll(() => one.locator('.card', { hasText: 'Videos' }).innerText()).toMatch(/1 not read yet/)
      expect(await one.locator('main').innerText()).not.toMatch(/No numbers yet/)
    }
    await page.goto(url)
    const row = page.locator('tbody tr', { hasText: 'Spring' })
    await row.getByText('2,000').waitFor()
    await row.getByText('1 video not read yet').first().waitFor()
    expect(await page.locator('tbody tr', { hasText: 'Autumn' }).innerText()).not.toMatch(/not read yet/)
    expect(await checkAccessibility(page)).toEqual([])
  })
})
