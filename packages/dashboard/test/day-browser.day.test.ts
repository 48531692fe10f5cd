import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { createMovingClock, hasFaketime } from '@influencer-stats/runtime/testing/faketime'
import { startProcessClock } from '@influencer-stats/runtime/testing/process-clock'
import { createTemporaryFolder } from '@influencer-stats/runtime/testing/temporary-folder'
import { waitUntil } from '@influencer-stats/runtime/testing/wait-until'
import { createStatsClient } from '@influencer-stats/stats/client'
import type { Page } from 'playwright-core'
import { expect, it, onTestFailed, onTestFinished } from 'vitest'
import { openPage, waitUntilLinkEnds } from './support/browser.ts'
import { Checker } from './support/day/checker.ts'
import { readPageView } from './support/day/page-view.ts'
import { FakeUpstream } from './support/day/fake-upstream.ts'
import { sendRequest } from './support/test-stack.ts'
import { startProcesses } from './support/processes.ts'

const HOUR_MS = 3_600_000
const DAY_MS = 24 * HOUR_MS
const REFRESH_MS = 250
/** Large enough that it delays no request. */
const BUDGET_UNITS = 10_000_000
/** Calls wait at the API while the clock moves. This must not count as a failure, even on a busy machine. */
const UPSTREAM_TIMEOUT_MS = 60_000
/** Duration of an outage under open pages (ms), number of days, and maximum duration of the test (ms). */
const {
  outage: OUTAGE_MS,
  days: DAYS,
  timeout: TIMEOUT_MS,
} = process.env.DAY_FORM === 'long'
  ? { outage: 60_000, days: 3, timeout: 3_600_000 }
  : { outage: 18_000, days: 1, timeout: 600_000 }
/** With fewer checks, the test has not covered the day. */
const MIN_CHECKS = 30
const toId = (name: string) => name.padEnd(11, '_')
const [A, B, C, D, E, F, G] = ['a', 'b', 'c', 'd', 'e', 'f', 'g'].map(toId) as [
  string,
  string,
  string,
  string,
  string,
  string,
  string,
]

async function startAgency() {
  const clock = createMovingClock()
  const time = startProcessClock()
  const upstream = await new FakeUpstream(clock.now, time).start()
  const keyFile = join(createTemporaryFolder(), 'key')
  const putKey = (key: string) => writeFileSync(keyFile, `${key}\n`)
  putKey('first-key')
  const { uriOf, start, kill } = await startProcesses({
    names: ['sse', 'stats', 'dashboard'],
    settings: (uriOf) => ({
      sse: {},
      stats: {
        youtubeUri: upstream.url,
        youtubeApiKeyFile: keyFile,
        sseUri: uriOf('sse'),
        refreshInterval: REFRESH_MS,
        upstreamTimeout: UPSTREAM_TIMEOUT_MS,
        dailyBudget: BUDGET_UNITS,
      },
      dashboard: { statsUri: uriOf('stats'), sseUri: uriOf('sse'), demo: 'off' },
    }),
    env: clock.env,
  })
  const stats = createStatsClient(uriOf('stats'))
  const pages: Page[] = []

  async function open(path: string): Promise<Page> {
    const page = await openPage({ timezoneId: 'America/New_York' })
    await page.clock.install({ time: clock.now() })
    await page.goto(uriOf('dashboard') + path)
    pages.push(page)
    return page
  }
  async function moveClocks(ms: number): Promise<void> {
    clock.advance(ms)
    await Promise.all(pages.filter((page) => !page.isClosed()).map((page) => page.clock.fastForward(ms)))
  }
  let isStatsRunning = true
  /** Advances all clocks together: of the test, processes and pages. It never does so during a call that states numbers. */
  async function pass(ms: number): Promise<void> {
    if (!isStatsRunning || upstream.fault) return moveClocks(ms)
    const { collections } = await stats.list()
    await upstream.holding([...new Set(collections.flatMap(({ videos }) => videos))], () => moveClocks(ms))
  }
  async function killStats(): Promise<void> {
    isStatsRunning = false
    await kill('stats')
  }
  async function startStats(): Promise<void> {
    await start('stats')
    isStatsRunning = true
  }
  return {
    clock,
    time,
    upstream,
    stats,
    url: uriOf('dashboard'),
    open,
    pass,
    putKey,
    killStats,
    startStats,
  }
}

type Agency = Awaited<ReturnType<typeof startAgency>>

/** Waits until stats has published numbers that YouTube stated from now on. */
async function waitForRefresh({ stats, clock }: Agency, id: string): Promise<void> {
  const now = clock.now()
  await waitUntil(async () => Date.parse((await stats.getStats(id).catch(() => undefined))?.asOf ?? '') >= now)
}

const linesOf = ({ untrue }: Checker) => [...untrue].map(([line, times]) => `${line} (${times} times)`)

it.skipIf(!hasFaketime)('every value shown in an agency’s day is true', { timeout: TIMEOUT_MS }, async () => {
  const agency = await startAgency()
  const { clock, upstream, stats, open, url } = agency
  const checker = new Checker({ upstream, stats, budget: BUDGET_UNITS, now: clock.now, time: agency.time })
  const pass = (ms: number) => checker.exclusive(() => agency.pass(ms))
  const add = (id: string, pace: number, likes = 500) =>
    upstream.videos.set(id, { views: 100_000, likes, comments: 20, pace })
  for (const [i, id] of [A, B, C, D, E, F].entries()) add(id, 40_000 + 7_919 * i)
  upstream.videos.set(G, { views: 5_000, likes: 0, comments: 0, pace: 0, isHidden: true })

  const put = async (id: string, name: string, videos: readonly string[]) => {
    checker.campaign(id, { name, videos, cost: undefined })
    await stats.put(id, { videos, name, from: '2026-03-01' })
  }
  await put('spring', 'Spring', [A, B, C])
  await put('autumn', 'Autumn', [D, E, G])
  await put('winter', 'Winter', [F])
  for (const id of ['spring', 'autumn', 'winter']) await waitForRefresh(agency, id)
  const link = async (campaign: string): Promise<string> =>
    (await sendRequest(`${url}/links`, 'POST', { body: { campaign, days: 365 } })).body.path + '?range=24h'

  const home = await open('/')
  const own = await open('/campaigns/spring?range=24h')
  const client = await open(await link('spring'))
  const winterLink = await open(await link('winter'))
  checker.page('home', home)
  checker.page('campaign', own, 'spring')
  checker.page('campaign', await open('/campaigns/autumn?range=24h'), 'autumn')
  checker.page('shared', client, 'spring')
  const ended = checker.page('shared', winterLink, 'winter')
  checker.page('health', await open('/health'))
  checker.start()
  onTestFinished(async () => void (await checker.stop()))
  onTestFailed(() => void process.stderr.write(`${linesOf(checker).join('\n')}\n`))

  const hours = async (number: number, step = 1) => {
    for (let passed = 0; passed < number; passed += step) {
      await pass(step * HOUR_MS)
      await waitForRefresh(agency, 'spring')
    }
  }
  const shows = (page: Page, condition: (view: Awaited<ReturnType<typeof readPageView>>) => boolean) =>
    waitUntil(async () => condition(await readPageView(page)))

  for (let day = 0; day < DAYS; day++) {
    // An ordinary day.
    await hours(26)
    expect(await own.locator('.facts').innerText()).toContain('Mar 1, 2026')

    // The owner hides likes, and shows them again.
    upstream.videos.get(A)!.isHidden = true
    await shows(own, ({ videos }) => videos.find(({ id }) => id === A)?.counts[1] === '–')
    await hours(2)
    upstream.videos.get(A)!.isHidden = false
    await shows(own, ({ videos }) => videos.find(({ id }) => id === A)?.counts[1] !== '–')

    // A video vanishes.
    upstream.videos.get(B)!.isOmitted = true
    for (const page of [own, client])
      await shows(page, ({ videos }) => /Removed/.test(videos.find(({ id }) => id === B)?.badges ?? ''))
    await hours(1)
    upstream.videos.get(B)!.isOmitted = false
    await shows(own, ({ videos }) => !/Removed/.test(videos.find(({ id }) => id === B)?.badges ?? ''))

    // An edit in two tabs.
    const tabs = [await open('/campaigns/spring'), await open('/campaigns/spring')] as const
    for (const tab of tabs) {
      await tab.getByRole('button', { name: 'Edit' }).click()
      await tab.locator('dialog[open]').waitFor()
    }
    const [cost, name] = [12_500 + day, `Spring ${day}`]
    await tabs[0].locator('dialog [name=cost]').fill(String(cost))
    await tabs[0].locator('dialog [name=currency]').selectOption('EUR')
    checker.campaign('spring', { cost })
    await tabs[0].getByRole('button', { name: /^Save/ }).click()
    await tabs[0].locator('dialog').waitFor({ state: 'detached' })
    checker.campaign('spring', { name })
    await tabs[1].locator('dialog [name=name]').fill(name)
    await tabs[1].getByRole('button', { name: /^Save/ }).click()
    await tabs[1].locator('dialog').waitFor({ state: 'detached' })
    expect(await stats.get('spring')).toMatchObject({ name, cost, currency: 'EUR' })
    for (const tab of tabs) await tab.context().close()

    // A video is removed, and added again: neither is growth.
    checker.campaign('spring', { videos: [A, B] })
    await stats.removeVideo('spring', C)
    await shows(own, ({ videos }) => videos.length === 2)
    await hours(1)
    checker.campaign('spring', { videos: [A, B, C] })
    await stats.addVideo('spring', C)
    await shows(own, ({ videos }) => videos.length === 3)
    await shows(own, ({ cards }) => /added/.test(cards[0]?.note ?? ''))

    // Another campaign under the id of a deleted one.
    if (day === 0) {
      checker.end(ended)
      checker.campaign('winter', { name: 'Of another client', videos: [D] })
      await stats.delete('winter')
      await stats.put('winter', { name: 'Of another client', videos: [D] })
      await waitUntilLinkEnds(winterLink)
    }

    // stats is killed under open pages.
    checker.outage('stats')
    await agency.killStats()
    await delay(OUTAGE_MS)
    await agency.startStats()
    checker.outage('stats', true)
    await shows(home, ({ dot }) => dot === 'live')
    await waitForRefresh(agency, 'spring')

    // YouTube fails for three days; meanwhile stats is restarted once.
    checker.outage('YouTube')
    upstream.fault = day % 2 === 0 ? 'unavailable' : 'key-refused'
    await delay(OUTAGE_MS)
    await pass(DAY_MS)
    checker.outage('stats')
    await agency.killStats()
    await pass(DAY_MS)
    await agency.startStats()
    checker.outage('stats', true)
    await delay(OUTAGE_MS)
    await pass(DAY_MS)
    upstream.fault = undefined
    // stats retries a refused key later than a new one.
    agency.putKey(`key-of-day-${day}`)
    checker.outage('YouTube', true)
    await waitForRefresh(agency, 'spring')
    await shows(home, ({ dot }) => dot === 'live')

    // stats is off for three days.
    checker.outage('stats')
    await agency.killStats()
    await pass(3 * DAY_MS)
    await agency.startStats()
    checker.outage('stats', true)
    await waitForRefresh(agency, 'spring')
    await hours(3)
  }

  // At rest all pages show the newest numbers.
  expect(await checker.stop()).toBeGreaterThan(MIN_CHECKS)
  expect(linesOf(checker)).toEqual([])
})
