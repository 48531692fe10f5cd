import { randomUUID } from 'node:crypto'
import { deleteStream, startTestNatsCluster } from '@influencer-stats/log/testing/nats'
import type { NatsServer } from '@influencer-stats/log/nats-server'
import { createPricesClient } from '@influencer-stats/prices/client'
import { prices } from '@influencer-stats/prices/service'
import { waitUntil } from '@influencer-stats/runtime/testing/wait-until'
import { sse } from '@influencer-stats/sse/service'
import type { Locator, Page } from 'playwright-core'
import { beforeAll, describe, expect, it } from 'vitest'
import { checkAccessibility, openPage } from './support/browser.ts'
import { UNREACHABLE_URL } from './support/fake-service.ts'
import { startDashboard } from './support/start-dashboard.ts'
import { start } from './support/start-service.ts'

let servers: NatsServer[]
beforeAll(async () => void (servers = await startTestNatsCluster()))

/** Folder for screenshots of each state; by default none is taken. */
const SHOTS = process.env.SCREENSHOTS

async function takeShots(page: Page, name: string): Promise<void> {
  if (!SHOTS) return
  for (const [width, height] of [
    [1280, 900],
    [390, 844],
  ] as const) {
    for (const colorScheme of ['light', 'dark'] as const) {
      await page.setViewportSize({ width, height })
      await page.emulateMedia({ colorScheme })
      await page.screenshot({ path: `${SHOTS}/${name}-${width}-${colorScheme}.png`, fullPage: true })
    }
  }
  await page.setViewportSize({ width: 1280, height: 900 })
  await page.emulateMedia({ colorScheme: 'light' })
}

/** Starts two nodes of prices, one of sse, and the dashboard, and opens Health. @param name of the cluster */
async function openHealth(name: string) {
  const cluster = servers.map(({ url }) => url).join(',')
  const settings = { cluster, clusterName: name }
  const first = await start(prices, { sample: 'no', ...settings })
  const second = await start(prices, { sample: 'no', ...settings })
  const broadcaster = await start(sse, settings)
  // A node without state would create a lost log again.
  const client = createPricesClient(first.url)
  await client.put({
    id: randomUUID(),
    offeringId: 'Fiber',
    groupId: 'Business',
    priceSpecId: 'Monthly',
    charValues: [],
    value: 1,
    currency: 'EUR',
  })
  const { url } = await startDashboard(UNREACHABLE_URL, {
    sseUri: broadcaster.url,
    pricesUri: `${first.url},${second.url}`,
  })
  const page = await openPage()
  await page.goto(`${url}/health`)
  const log = page.getByRole('region', { name: 'Log of prices' })
  await log.getByText('writes possible').waitFor()
  return { page, log, nodes: [first.url, second.url] }
}

const getRow = (log: Locator, server: string) => log.getByRole('row', { name: new RegExp(`^${server}\\b`) })
const getRows = async (log: Locator) =>
  (await log.locator('tbody tr').allInnerTexts()).map((text) => text.split(/\s*\t\s*/))

describe('Health of a cluster', () => {
  it('shows the servers of each log, one that stops, and an outage of all while reads continue', async () => {
    const { page, log, nodes } = await openHealth('health')
    await waitUntil(async () => (await log.locator('.dot.live', { hasText: 'current' }).count()) === 3)
    const rows = await getRows(log)
    expect(rows.map(([, role]) => role)).toEqual(['leader', 'replica', 'replica'])
    expect(rows.map(([, , , behind]) => behind)).toEqual(['0', '0', '0'])
    await expect
      .poll(() => log.innerText())
      .toMatch(/Stream\s+health-prices\s+Disk used\s+[\d.]+ k?B(yte)? on each server/i)
    await page.getByRole('region', { name: 'Log of sse' }).getByText('health-sse').waitFor()
    expect(await checkAccessibility(page)).toEqual([])
    await takeShots(page, 'all')

    const [name = ''] = rows[1]!
    const stopped = servers[Number(name.at(-1)) - 1]!
    await stopped.stop('SIGKILL')
    await getRow(log, name).getByText('offline').waitFor()
    await log
      .getByText(`2 of 3 servers are up: writes continue, but no longer if one more stops. Start ${name}.`)
      .waitFor()
    await expect.poll(() => log.innerText()).toContain('writes possible')
    expect(await checkAccessibility(page)).toEqual([])
    await takeShots(page, 'one-stopped')

    await Promise.all(servers.map((server) => server.stop('SIGKILL')))
    await log.getByText('writes not possible').waitFor()
    await log
      .getByText(/^(NATS_UNREACHABLE|LOG_UNREACHABLE)$/)
      .first()
      .waitFor()
    await waitUntil(async () =>
      (await getRows(log)).every(([, ...cells]) => cells.slice(0, 3).every((cell) => cell === 'unknown')),
    )
    await expect.poll(() => log.innerText()).toMatch(/Start the (NATS )?servers.*Reads continue.*Since \d/s)
    for (const url of nodes) expect((await createPricesClient(url).getFacets()).offerings?.values).toHaveLength(1)
    await page.getByRole('region', { name: 'prices, node 1' }).getByText('behind the log').waitFor()
    expect(await checkAccessibility(page)).toEqual([])
    await takeShots(page, 'all-stopped')

    await Promise.all(servers.map((server) => server.restart()))
    await log.getByText('writes possible').waitFor()
    await waitUntil(async () => (await log.locator('.dot.live', { hasText: 'current' }).count()) === 3)
  })

  it('explains the loss of a log, and points to the chapter about a rescue', async () => {
    const { page, log } = await openHealth('lost')
    await deleteStream(servers[0]!.url, 'lost-prices')
    await log.getByText('writes not possible', { exact: true }).waitFor()
    await log.getByText('LOG_LOST').waitFor()
    await log.getByText(/pnpm cluster rescue.*docs\/deploy\.md, section “When the log is lost”/s).waitFor()
    expect(await page.getByRole('region', { name: 'Log of sse' }).innerText()).toContain('writes possible')
    expect(await checkAccessibility(page)).toEqual([])
    await takeShots(page, 'lost')
  })
})
