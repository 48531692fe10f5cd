import { randomUUID } from 'node:crypto'
import { createPricesClient, type PricesClient } from '@influencer-stats/prices/client'
import { prices } from '@influencer-stats/prices/service'
import { waitUntil } from '@influencer-stats/runtime/testing/wait-until'
import type { Page } from 'playwright-core'
import { describe, expect, it } from 'vitest'
import { checkAccessibility, COLOURS, openPage } from './support/browser.ts'
import { UNREACHABLE_URL } from './support/fake-service.ts'
import { startDashboard } from './support/start-dashboard.ts'
import { start } from './support/start-service.ts'

type Fields = Partial<Parameters<PricesClient['put']>[0]>

/** Starts prices and the dashboard. @param list the prices; names have defaults */
async function open(list: readonly Fields[], search = ''): Promise<{ page: Page; pricesUri: string }> {
  const { url: pricesUri } = await start(prices, { sample: 'no' })
  const client = createPricesClient(pricesUri)
  for (const fields of list)
    await client.put({
      id: randomUUID(),
      offeringId: 'Fiber',
      groupId: 'Business',
      priceSpecId: 'Monthly',
      charValues: [],
      value: 1,
      currency: 'EUR',
      ...fields,
    })
  const { url } = await startDashboard(UNREACHABLE_URL, { pricesUri })
  const page = await openPage()
  await page.goto(`${url}/prices${search}`)
  await page.getByText(/\d prices? match|^Choose other values/).waitFor()
  return { page, pricesUri }
}

const term = (value: string) => [{ char: 'Term', value }]
const getList = (page: Page, name: string) => page.getByRole('combobox', { name, exact: true })
const getPrice = (page: Page, text: string) => page.locator('.price', { hasText: text })

/** Fails if axe finds a violation in light or in dark, or the page is wider than a phone. */
async function expectFit(page: Page): Promise<void> {
  expect(await checkAccessibility(page)).toEqual([])
  await page.emulateMedia({ colorScheme: 'dark' })
  expect(await checkAccessibility(page, COLOURS)).toEqual([])
  await page.emulateMedia({ colorScheme: 'light' })
  const size = page.viewportSize()!
  await page.setViewportSize({ width: 390, height: 844 })
  expect(await page.evaluate('document.documentElement.scrollWidth')).toBe(390)
  await page.setViewportSize(size)
}

describe('prices in Chromium', () => {
  it('has lists that are searched by a part of a word and read part by part, by keyboard alone', async () => {
    const names = Array.from({ length: 120 }, (_, i) => `Offering ${String(i).padStart(3, '0')}`)
    const { page } = await open(names.map((offeringId) => ({ offeringId })))
    const list = getList(page, 'Offering')
    await list.focus()
    await page.keyboard.press('ArrowDown')
    const options = page.getByRole('option')
    await options.nth(49).waitFor()
    await page.keyboard.press('ArrowUp')
    await options.nth(99).waitFor()
    await page.keyboard.press('PageDown')
    await expect.poll(() => list.getAttribute('aria-activedescendant')).toBe(await options.nth(59).getAttribute('id'))
    await expect.poll(() => options.nth(59).getAttribute('aria-selected')).toBe('true')
    await expectFit(page)
    await page.keyboard.press('Escape')
    await options.first().waitFor({ state: 'detached' })
    await page.keyboard.type('RING 04')
    await page.getByRole('option', { name: 'Offering 049 1' }).waitFor()
    await expect.poll(() => options.count()).toBe(10)
    await page.keyboard.press('ArrowDown')
    await page.keyboard.press('Enter')
    await getPrice(page, '€1.00').waitFor()
    await expect.poll(() => list.inputValue()).toBe('Offering 041')
    // Enter before the list was read chooses its first option.
    await list.selectText()
    await page.keyboard.type('077')
    await page.keyboard.press('Enter')
    await page.locator('.fields', { hasText: 'Offering 077' }).waitFor()
    await list.fill('nothing')
    await page.getByText('Nothing contains this text.').first().waitFor()
    await page.keyboard.press('Escape')
    await expect.poll(() => list.inputValue()).toBe('Offering 077')
    await page.getByRole('button', { name: 'Remove Offering' }).click()
    await page.getByText('120 prices match').waitFor()
  })

  it('finds offerings, characteristics and values in one field', async () => {
    const { page } = await open([
      { offeringId: 'Copper', charValues: term('12 months'), value: 5 },
      { offeringId: 'Fiber', charValues: term('12 months'), value: 6 },
      { offeringId: 'Fiber', charValues: term('24 months'), value: 7 },
      { offeringId: 'Later', charValues: term('24 months'), value: 8, from: '2999-01-01' },
    ])
    const find = getList(page, 'Find')
    await find.fill('2 MONTH')
    await page.getByRole('option', { name: 'Term 12 months 2' }).click()
    await expect.poll(() => getList(page, 'Term').inputValue()).toBe('12 months')
    await find.fill('fib')
    await page.keyboard.press('Enter')
    await getPrice(page, '€6.00').waitFor()
    await expect
      .poll(() => page.locator('.funnel bdi').allInnerTexts())
      .toEqual([
        'Offering Fiber',
        'Group Business',
        'Spec Monthly',
        'Term 12 months',
        expect.stringMatching(/^Valid on /),
      ])
    // A characteristic alone: its list is opened next.
    await find.fill('ter')
    await page.getByRole('option', { name: 'Characteristic Term' }).click()
    await waitUntil(() => getList(page, 'Term').evaluate((field: any) => field === field.ownerDocument.activeElement))
    // Names that do not match the other conditions begin a new search.
    await find.fill('late')
    await page.keyboard.press('Enter')
    await page.getByText('No price matches.').waitFor()
    expect(new URL(page.url()).search).toBe('?offering=Later')
  })

  it('shows several prices with their differences, and the chosen one', async () => {
    const { page } = await open([
      { value: 9.5, to: '2999-12-31' },
      { value: 10, from: '2020-01-01' },
    ])
    await page.getByText('Several prices match').waitFor()
    const table = page.getByRole('table', { name: 'Prices that match' })
    await expect.poll(() => table.getByRole('columnheader').allInnerTexts()).toEqual(['Price', 'Valid'])
    expect((await table.locator('mark').allInnerTexts()).sort()).toEqual([
      'from Jan 1, 2020',
      'until Dec 31, 2999',
      '€10.00',
      '€9.50',
    ])
    await expectFit(page)
    await page.getByRole('button', { name: '€10.00' }).click()
    await getPrice(page, '€10.00').waitFor()
    await page.reload()
    await getPrice(page, '€10.00').waitFor()
    await page.getByRole('button', { name: 'Back to 2 prices' }).click()
    await table.waitFor()
  })

  it('shows all digits of a price, on a phone too', async () => {
    const { page, pricesUri } = await open([])
    const path = `${pricesUri}/prices/${randomUUID()}`
    const body = '{"offeringId":"Fiber","groupId":"Business","priceSpecId":"Monthly","charValues":[],"currency":"EUR"'
    const headers = { 'content-type': 'application/json' }
    const digits = '1234567890.123456789012345678901234'
    expect((await fetch(path, { method: 'PUT', headers, body: `${body},"value":${digits}}` })).status).toBe(201)
    await page.reload()
    await getPrice(page, '€1,234,567,890.123456789012345678901234').waitFor()
    await expectFit(page)
  })

  it('names the condition that leaves no price, and the prices without it', async () => {
    const { page } = await open([
      { value: 9.5, to: '2020-12-31', charValues: term('12') },
      { value: 10, to: '2020-12-31', charValues: term('24') },
    ])
    await getList(page, 'Find').fill('fiber')
    await page.keyboard.press('Enter')
    await page.locator('.funnel li', { hasText: 'Offering Fiber' }).waitFor()
    await expect.poll(() => page.locator('.funnel b').allInnerTexts()).toEqual(['2', '0'])
    await page.getByText('This condition leaves no price: Valid on').waitFor()
    await expectFit(page)
    await page.getByRole('button', { name: '€10.00' }).click()
    await page.getByText('Several prices match').waitFor()
    expect(new URL(page.url()).searchParams.get('at')).toBe('2020-12-31')
    await page.getByRole('button', { name: 'Any date' }).click()
    await page.getByText('2 prices match').waitFor()
    await page.goto(`${page.url()}&group=Business&spec=Monthly&char.Term=36`)
    await page.getByText('This value of Term no longer exists: choose another.').waitFor()
  })

  it('has a number for ranges, Yes and No for booleans, and the currencies', async () => {
    const values = (seats: object, isManaged: boolean) => [
      { char: 'Seats', value: seats },
      { char: 'Managed', value: isManaged },
    ]
    const { page } = await open([
      { value: 9, charValues: values({ from: 1, to: 9 }, true) },
      { value: 8, charValues: values({ from: 10 }, true) },
      { value: 7, charValues: values({ from: 10 }, false) },
      { value: 6, charValues: values({ from: 10 }, true), currency: 'CHF' },
    ] as Fields[])
    await page.getByText('€7.00 – €9.00').waitFor()
    await page.getByLabel('Seats').fill('12')
    await page.keyboard.press('Enter')
    await page.getByText('3 prices match').waitFor()
    await page.getByRole('button', { name: 'Yes (2)' }).click()
    await page.getByText('2 prices match').waitFor()
    await page.getByLabel('Currency').selectOption('CHF (1)')
    await getPrice(page, 'CHF 6.00').waitFor()
    await expectFit(page)
    await page.getByLabel('Seats').fill('5')
    await page.keyboard.press('Enter')
    await page.getByText('This condition leaves no price: Currency CHF.').waitFor()
    const table = page.getByRole('table', { name: 'Prices without this condition' })
    await table.getByText('€9.00').waitFor()
    await page.getByLabel('Seats').fill('0')
    await page.keyboard.press('Enter')
    await page.getByText('No price has this value of Seats: choose another.').waitFor()
    await expectFit(page)
    await page.getByLabel('Seats').fill('5')
    await page.keyboard.press('Enter')
    await table.getByRole('button').click()
    await getPrice(page, '€9.00').waitFor()
    await expect.poll(() => page.getByLabel('Currency').inputValue()).toBe('EUR')
  })

  it('names what no longer exists at its list, and preserves the other choices', async () => {
    const search = '?offering=Old&char.Term=12&char.Router=None&group=Business&price=gone'
    const { page } = await open([{ charValues: term('12') }, { offeringId: 'Copper', charValues: term('24') }], search)
    await page.getByText('This offering no longer exists: choose another.').waitFor()
    await page.getByText('This value of Router no longer exists: choose another.').waitFor()
    // The number of prices without these conditions would contradict that.
    expect(await page.getByText(/prices? match/).count()).toBe(0)
    expect(await getList(page, 'Term').inputValue()).toBe('12')
    expect(await getList(page, 'Offering').inputValue()).toBe('Old')
    expect(await getList(page, 'Offering').getAttribute('aria-invalid')).toBe('true')
    await expectFit(page)
    await page.getByRole('button', { name: 'Remove Router' }).click()
    await getList(page, 'Offering').click()
    await page.getByRole('option', { name: 'Fiber 1' }).click()
    await getPrice(page, '€1.00').waitFor()
    await page.goto(`${page.url()}&price=${randomUUID()}`)
    await page.getByText('This price no longer exists: choose another.').waitFor()
  })
})
