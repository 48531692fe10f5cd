import { sse } from '@influencer-stats/sse/service'
import { describe, expect, it } from 'vitest'
import { dashboard } from '../src/service.ts'
import { checkAccessibility, openPage } from './support/browser.ts'
import { serve } from './support/fake-service.ts'
import { start } from './support/start-service.ts'

const VIDEOS = ['1FEFpk-uIYo', 'abcdefghijk']
const HOUR_MS = 3_600_000

/** Fakes the replies of stats that a page reads. The other services are real. */
async function startWith(change: object, points: readonly object[] = []) {
  const now = Date.now()
  const sums = { impressions: 10_000, engagements: 500, score: 700, videos: 2 }
  const row = {
    id: 'a',
    name: 'Spring',
    videos: VIDEOS,
    stats: {
      ...sums,
      missing: [],
      asOf: new Date(now).toISOString(),
      stale: false,
      source: 'https://www.googleapis.com',
    },
    change,
  }
  const replies: Record<string, unknown> = {
    '/readyz': { status: 'ready' },
    '/collections': { collections: [row], total: 1 },
    '/collections/a': row,
    '/collections/a/videos': { videos: [], asOf: row.stats.asOf, stale: false },
    '/collections/a/stats/history': { points },
  }
  const statsUri = await serve((request, response) => {
    const reply = replies[request.url!.split('?')[0]!]
    response
      .writeHead(reply ? 200 : 404, { 'content-type': 'application/json' })
      .end(JSON.stringify(reply ?? { code: 'NOT_FOUND' }))
  })
  const { url: sseUri } = await start(sse, {})
  return (await start(dashboard, { statsUri, sseUri, demo: 'off' })).url
}

describe('growth', () => {
  const at = (hours: number) => new Date(Date.now() - hours * HOUR_MS).toISOString()
  const growth = { impressions: 3_900, engagements: 40, score: 60 }

  it('is shown under the time that it covers', async () => {
    const url = await startWith({
      '24h': { ...growth, since: at(1), until: at(0) },
      '7d': { ...growth, since: at(7 * 24), until: at(0), isWhole: true },
      '30d': { ...growth, since: at(200), until: at(0), young: true },
    })
    const page = await openPage()
    await page.goto(`${url}/campaigns/a?range=24h`)
    const card = page.locator('.card', { hasText: 'Views' }).first()
    await card.getByText(/since/).waitFor()
    expect(await card.innerText()).not.toMatch(/in 24/)
    await page.getByRole('button', { name: '7 days' }).click()
    await card.getByText('in 7 days').waitFor()
    await page.getByRole('button', { name: '30 days' }).click()
    await card.getByText('younger than 30 days').waitFor()
    await page.goto(url)
    await page.locator('tbody .wide .change').first().waitFor()
    await expect.poll(() => page.locator('tbody').innerText()).toMatch(/since/)
    expect(await checkAccessibility(page)).toEqual([])
  })

  it('does not include edits, which the chart marks', async () => {
    const removed = { videos: 1, impressions: 50_000, engagements: 800, score: 900 }
    const added = { videos: 2, impressions: 1_200, engagements: 30, score: 40 }
    const sums = { engagements: 100, score: 100, videos: 2 }
    const url = await startWith(
      {
        '24h': { ...growth, since: at(24), removed, added },
        '7d': { ...growth, since: at(168) },
        '30d': { ...growth, since: at(720) },
      },
      [
        { at: at(20), impressions: 55_000, ...sums },
        { at: at(10), impressions: 5_000, ...sums, removed, added },
        { at: at(1), impressions: 9_000, ...sums },
      ],
    )
    const page = await openPage()
    await page.goto(`${url}/campaigns/a?range=24h`)
    const card = page.locator('.card', { hasText: 'Views' }).first()
    await card.getByText('+3,900').waitFor()
    await card.getByText('1 video removed: 50,000').waitFor()
    await card.getByText('2 videos added: 1,200').waitFor()
    await page.locator('.plot canvas').waitFor()
    await expect.poll(() => page.locator('.edits li').count()).toBe(1)
    await expect
      .poll(() => page.locator('.edits').innerText())
      .toMatch(/1 video removed: 50,000.*2 videos added: 1,200|2 videos added: 1,200.*1 video removed: 50,000/s)
    expect(await checkAccessibility(page)).toEqual([])
  })
})
