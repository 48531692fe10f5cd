import { createPricesClient } from '@influencer-stats/prices/client'
import { prices } from '@influencer-stats/prices/service'
import { embed } from '@influencer-stats/runtime/embed'
import { createTemporaryFolder } from '@influencer-stats/runtime/testing/temporary-folder'
import type { Page } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { openPage } from './support/browser.ts'
import { UNREACHABLE_URL } from './support/fake-service.ts'
import { OFFERINGS, toDate, toOfferingName, VALUES, writeCatalog } from './support/price-catalog.ts'
import { startDashboard } from './support/start-dashboard.ts'

const MAX_STEPS = 4
/** Time for the import of 604,000 prices, also beside other tests (ms). */
const IMPORT_TIMEOUT_MS = 400_000
const OFFERING = toOfferingName(347)

/** A page on which each action of the user is counted: a click, a key, or a text that is typed. */
async function openCounted(pricesUri: string) {
  const { url } = await startDashboard(UNREACHABLE_URL, { pricesUri })
  const page: Page = await openPage()
  await page.goto(`${url}/prices`)
  await page.getByText(`${((VALUES + 1) * OFFERINGS).toLocaleString('en-US')} prices match`).waitFor()
  let steps = 0
  return {
    page,
    getSteps: () => steps,
    async type(text: string) {
      steps++
      await page.keyboard.type(text)
    },
    async press(key: string) {
      steps++
      await page.keyboard.press(key)
    },
    async fill(label: string, text: string) {
      steps++
      await page.getByLabel(label, { exact: true }).fill(text)
    },
  }
}

describe(`in a catalog of ${OFFERINGS} offerings with ${VALUES} values each, a salesperson`, () => {
  let running: Awaited<ReturnType<typeof embed>>
  beforeAll(async () => {
    running = await embed(prices, { data: createTemporaryFolder(), sample: 'no' })
    await createPricesClient(running.url).import(writeCatalog(), { replace: true })
  }, IMPORT_TIMEOUT_MS)
  afterAll(async () => void (await running.stop()))

  // The field that finds everything has the focus from the beginning, and after each choice.
  it('finds a price by parts of names in under five steps', async () => {
    const { page, type, press, getSteps } = await openCounted(running.url)
    await type('DESK 1347')
    await press('Enter')
    await page.getByText(`${VALUES + 1} prices match`).waitFor()
    await type('250')
    await press('Enter')
    await page.locator('.price', { hasText: '€45.000000000000001347' }).waitFor()
    await expect.poll(() => page.locator('.fields').innerText()).toContain(OFFERING)
    expect(getSteps()).toBeLessThanOrEqual(MAX_STEPS)
  })

  it('distinguishes two prices with different dates in under five steps', async () => {
    const { page, type, press, getSteps } = await openCounted(running.url)
    await type('desk 1347')
    await press('Enter')
    await page.getByText(`${VALUES + 1} prices match`).waitFor()
    await type('600')
    await press('Enter')
    const table = page.getByRole('table', { name: 'Prices that match' })
    await page.getByText(/^2 prices match/).waitFor()
    await table.waitFor()
    const format = (date: string) =>
      new Date(date).toLocaleDateString('en-US', { dateStyle: 'medium', timeZone: 'UTC' })
    await expect
      .poll(() => table.locator('mark').allInnerTexts())
      .toEqual([
        '€80.000000000000001347',
        'from Jan 1, 2020',
        '€70.25',
        `${format(toDate(-30))} – ${format(toDate(30))}`,
      ])
    expect(getSteps()).toBeLessThanOrEqual(MAX_STEPS)
  })

  it('finds the reason why no price matches, and the prices without it, in under five steps', async () => {
    const { page, type, press, fill, getSteps } = await openCounted(running.url)
    await type('desk 1347')
    await press('Enter')
    await page.getByText(`${VALUES + 1} prices match`).waitFor()
    await fill('Date', '2019-12-31')
    await page.getByText('This condition leaves no price: Valid on Dec 31, 2019.').waitFor()
    await page.getByRole('table', { name: 'Prices without this condition' }).waitFor()
    await expect.poll(() => page.locator('.funnel b').allInnerTexts()).toEqual([String(VALUES + 2), '0'])
    expect(getSteps()).toBeLessThanOrEqual(MAX_STEPS)
  })
})
