import { setTimeout as delay } from 'node:timers/promises'
import { sendPatiently } from '@influencer-stats/runtime/testing/patient-requests'
import { waitUntil } from '@influencer-stats/runtime/testing/wait-until'
import { createPublisherClient } from '@influencer-stats/sse/publisher-client'
import type { Page } from 'playwright-core'
import { describe, expect, it, onTestFinished } from 'vitest'
import { openPage } from './support/browser.ts'
import { startStack, type TestStack } from './support/test-stack.ts'

const HOUR_MS = 3_600_000
const CAMPAIGNS = 200
/** Values per second. */
const CLOCK_SPEED = 50
const VALUES = CAMPAIGNS
/** Maximum time of scripts, styles and layout per value (ms of the page's CPU time, independent of other load). */
const WORK = 8
const WORKS = new Set(['ScriptDuration', 'RecalcStyleDuration', 'LayoutDuration'])
/** Maximum duration of a frame (ms). Only a quiet machine can guarantee one. */
const LONGEST_FRAME = Number(process.env.FRAME_MS ?? Infinity)

const textOf = (page: Page, selector: string) => page.locator(selector).first().innerText()
const views = async (page: Page, selector = '.card strong') => Number((await textOf(page, selector)).replace(/\D/g, ''))

/** Advances the clock of the stand-in, so that all numbers grow. */
async function advanceTime({ control }: TestStack, hours: number): Promise<void> {
  await control.freezeClock(Date.now() + hours * HOUR_MS)
}

describe('in Chromium', () => {
  it('shows 200 campaigns live at 50 values a second with one stream and short frames', async () => {
    const stack = await startStack()
    await advanceTime(stack, 0)
    const videoOf = (i: number) => `video${String(i).padStart(6, '0')}`
    await sendPatiently(Array(CAMPAIGNS).keys(), (i) => stack.stats.put(`campaign-${i}`, { videos: [videoOf(i)] }))
    const page = await openPage({ reducedMotion: 'no-preference' })
    let streams = 0
    page.on('request', (request) => void (request.url().includes('/wait') && streams++))
    await page.goto(stack.url)
    await page
      .locator('tbody tr')
      .nth(CAMPAIGNS - 1)
      .waitFor()
    await page.evaluate(`
      window.longest = 0
      let last = performance.now()
      requestAnimationFrame(function next(now) { longest = Math.max(longest, now - last); last = now; requestAnimationFrame(next) })
    `)
    const devtools = await page.context().newCDPSession(page)
    await devtools.send('Performance.enable', { timeDomain: 'threadTicks' })
    const worked = async () => {
      const { metrics } = await devtools.send('Performance.getMetrics')
      const seconds = metrics.reduce((sum, { name, value }) => sum + (WORKS.has(name) ? value : 0), 0)
      return 1_000 * seconds
    }
    const before = await worked()
    // Publishes the values of stats at the rate of the test.
    const broadcaster = createPublisherClient(stack.sseUrl)
    onTestFinished(() => broadcaster.close())
    const sums = (await stack.stats.getStats('campaign-0'))!
    const asOf = new Date(Date.now() + HOUR_MS / 6).toISOString()
    const { collections } = await stack.stats.list({ limit: CAMPAIGNS })
    const createdOf = new Map(collections.map(({ id, created }) => [id, created]))
    const valueOf = (id: string, impressions: number) =>
      JSON.stringify({ ...sums, id, created: createdOf.get(id), impressions, asOf })
    const shown = (i: number) => views(page, `tr:has(a[href="/campaigns/campaign-${i}"]) .moving`)
    // The value is published repeatedly, because stats may publish its own before the page's stream is open.
    await waitUntil(async () => {
      await broadcaster.put('collections/campaign-0', valueOf('campaign-0', 1))
      return (await shown(0)) === 1
    })
    // The time before the first value is not part of the measurement.
    await page.evaluate('longest = 0')
    for (let i = 0; i < VALUES; i++) {
      const id = `campaign-${i % CAMPAIGNS}`
      await broadcaster.put(`collections/${id}`, valueOf(id, 1_000_000 + i))
      await delay(1_000 / CLOCK_SPEED)
    }
    await waitUntil(async () => (await shown(CAMPAIGNS - 1)) === 1_000_000 + VALUES - 1)
    expect(await shown(0)).toBe(1_000_000)
    expect(streams).toBe(1)
    const work = ((await worked()) - before) / VALUES
    expect(work).toBeLessThan(WORK)
    expect(await page.evaluate('longest')).toBeLessThan(LONGEST_FRAME)
  })
})
