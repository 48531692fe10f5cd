import { randomUUID } from 'node:crypto'
import { embed } from '@influencer-stats/runtime/embed'
import { spawnService } from '@influencer-stats/runtime/testing/service-process'
import { createTemporaryFolder } from '@influencer-stats/runtime/testing/temporary-folder'
import { findFreePort } from '@influencer-stats/runtime/testing/free-port'
import { startProcessClock } from '@influencer-stats/runtime/testing/process-clock'
import { waitUntil } from '@influencer-stats/runtime/testing/wait-until'
import { prices } from '@influencer-stats/prices/service'
import type { Page } from 'playwright-core'
import { describe, expect, it, onTestFinished } from 'vitest'
import { checkAccessibility, COLOURS, openPage, waitUntilLinkEnds } from './support/browser.ts'
import { sendRequest, startStack, type TestStack } from './support/test-stack.ts'

const VIDEOS = ['1FEFpk-uIYo', 'abcdefghijk']
const HOUR_MS = 3_600_000
const MARKUP = '<img src=x onerror="globalThis.hit=1"><script>globalThis.hit=1</script>'

const textOf = (page: Page, selector: string) => page.locator(selector).first().innerText()
const views = async (page: Page, selector = '.card strong') => Number((await textOf(page, selector)).replace(/\D/g, ''))

/** Stops a process at the end of the test. */
function stopAfterwards<T extends { stop(): Promise<boolean> }>(running: T): T {
  onTestFinished(async () => void (await running.stop()))
  return running
}

/** The current sums of the campaign. */
const truth = async ({ stats }: TestStack, id: string) => (await stats.getStats(id))!.impressions

/** Advances the clock of the stand-in, so that all numbers grow. */
async function advanceTime({ control }: TestStack, hours: number): Promise<void> {
  await control.freezeClock(Date.now() + hours * HOUR_MS)
}

describe('in Chromium', () => {
  it('a new user gets from an empty page to live numbers, growth, a comparison and a link for the client', async () => {
    const stack = await startStack()
    await advanceTime(stack, 0)
    const page = await openPage()
    await page.goto(stack.url)
    await page
      .getByLabel('YouTube links')
      .fill(`https://youtu.be/${VIDEOS[1]}\nhttps://www.youtube.com/shorts/zyxwvutsrqp`)
    await page.getByLabel('Name').fill('Spring')
    await page.getByRole('button', { name: 'Start campaign' }).click()
    await page.waitForURL(/\/campaigns\/\w+$/)
    const id = page.url().split('/').at(-1)!
    await page.locator('.card strong').first().waitFor()
    // The history has one point, or a second one with the same numbers.
    const noLine = page.getByText('The chart appears after the first change of the numbers')
    await noLine.or(page.locator('.plot canvas')).first().waitFor()
    const before = await views(page)
    await advanceTime(stack, 100)
    await waitUntil(async () => (await views(page)) > before)
    expect(await views(page)).toBe(await truth(stack, id))

    // The chart has a line, and the arrow keys read its values.
    await page.locator('.plot canvas').waitFor()
    await page.locator('.plot').press('Home')
    expect(await textOf(page, '.readout b')).toBe(before.toLocaleString('en-US'))
    await page.locator('.plot').press('ArrowRight')
    await waitUntil(async () => (await textOf(page, '.readout b')) !== before.toLocaleString('en-US'))
    await page.getByRole('button', { name: 'Per hour' }).click()
    await page.waitForURL(/mode=hourly/)

    await page.getByLabel('Links of videos to add').fill('https://youtu.be/-jlLkTtgWUk')
    await page.getByRole('button', { name: 'Add', exact: true }).click()
    await waitUntil(async () => (await page.locator('table.videos tbody tr').count()) === 3)
    await page.getByRole('button', { name: 'Edit' }).click()
    await page.getByRole('textbox', { name: 'Cost' }).fill('1000')
    await page.getByRole('combobox', { name: 'Currency' }).selectOption('EUR')
    await page.getByRole('button', { name: 'Save' }).click()
    await page.getByText('Per thousand views').waitFor()
    const [download] = await Promise.all([
      page.waitForEvent('download'),
      page.getByRole('link', { name: 'CSV' }).click(),
    ])
    expect(download.suggestedFilename()).toMatch(/\.csv$/)

    await page.getByRole('button', { name: 'Share' }).click()
    await page.getByRole('button', { name: 'Create a link' }).click()
    const link = await page.getByLabel('Link', { exact: true }).inputValue()
    const client = await openPage()
    await client.goto(link)
    await waitUntil(async () => (await views(client)) > 0)
    expect(await client.getByText('Per thousand views').count()).toBe(0)
    expect(await client.getByRole('button', { name: 'Edit' }).count()).toBe(0)
    const shownViews = await views(client)
    await advanceTime(stack, 200)
    await waitUntil(async () => (await views(client)) > shownViews)
    await page.getByRole('button', { name: 'Revoke' }).click()
    await waitUntil(async () => (await page.getByRole('button', { name: 'Revoke' }).count()) === 0)
    await waitUntilLinkEnds(client)

    await page.goto(`${stack.url}/`)
    await page.getByRole('checkbox', { name: 'Select Spring' }).check()
    // A campaign that another client creates appears in the list.
    await stack.stats.put('other', { videos: [VIDEOS[0]!], name: 'Autumn' })
    await page.getByRole('checkbox', { name: 'Select Autumn' }).check()
    await page.getByRole('link', { name: 'Compare 2' }).click()
    await page.locator('.plot canvas').waitFor()
    await expect.poll(() => page.locator('.readout .value').count()).toBe(2)
    await page.getByRole('button', { name: 'From the start' }).click()
    await page.waitForURL(/align=start/)
  })

  it('reports an unavailable broadcaster, and shows the right numbers within 5 s of its return', async () => {
    const args = { port: await findFreePort(), data: createTemporaryFolder() }
    let sse = await spawnService('sse', args)
    const stack = await startStack({ sseUri: sse.url })
    await advanceTime(stack, 0)
    const ids = ['a', 'b']
    for (const id of [...ids, 'gone'])
      await stack.stats.put(id, { videos: VIDEOS.map((video) => id[0] + video.slice(1)) })
    const page = await openPage()
    await page.goto(stack.url)
    await page.locator('.dot.live').waitFor()
    await page.locator('tbody tr').nth(2).waitFor()
    const old = await truth(stack, 'a')
    await sse.end('SIGKILL')
    await page.getByText('sse does not answer').waitFor()
    await advanceTime(stack, 1_000)
    await waitUntil(async () => (await truth(stack, 'a')) > old)
    // No client will publish another value of this campaign.
    await stack.stats.delete('gone')
    sse = await spawnService('sse', args)
    const time = startProcessClock()
    const expected = await Promise.all(ids.map((id) => truth(stack, id)))
    const shown = (id: string) => views(page, `tr:has(a[href="/campaigns/${id}"]) .moving`)
    await waitUntil(async () => (await Promise.all(ids.map(shown))).join() === expected.join())
    await waitUntil(async () => (await page.locator('tbody tr').count()) === ids.length)
    expect(time()).toBeLessThan(5_000)
    await page.locator('.dot.live').waitFor()
    await waitUntil(async () => (await page.locator('.lost').count()) === 0)
  })

  it('signs in with the right token, shows names and tags as text, and filters campaigns by the address', async () => {
    const stack = await startStack({ all: { apiToken: 'the-token' } })
    await stack.stats.put('a', { videos: [VIDEOS[0]!], name: MARKUP, tags: [`"><b>${MARKUP.slice(0, 30)}`] })
    await stack.stats.put('b', { videos: [VIDEOS[0]!], name: 'Plain' })
    const page = await openPage()
    await page.goto(stack.url)
    await page.getByLabel('Token').fill('another')
    await page.getByRole('button', { name: 'Sign in' }).click()
    await page.getByRole('alert').waitFor()
    await page.getByLabel('Token').fill('the-token')
    await page.getByRole('button', { name: 'Sign in' }).click()
    await page.getByRole('link', { name: MARKUP, exact: true }).waitFor()
    expect(await page.evaluate('document.cookie')).toBe('')
    await page.getByRole('searchbox').fill('plain')
    await page.waitForURL(/\?q=plain$/)
    await waitUntil(async () => (await page.locator('tbody tr').count()) === 1)
    await page.reload()
    await page.locator('tbody tr').first().waitFor()
    expect(await page.locator('tbody tr').count()).toBe(1)
    await page.goto(`${stack.url}/campaigns/a`)
    await page.getByRole('heading', { name: MARKUP }).waitFor()
    await page.goto(`${stack.url}/compare?c=a&c=b`)
    await page.getByRole('link', { name: MARKUP }).waitFor()
    expect(await page.evaluate('globalThis.hit')).toBeUndefined()
    expect(await page.locator('main img').count()).toBe(0)
    await page.getByRole('button', { name: 'Sign out' }).click()
    await page.getByLabel('Token').waitFor()
  })

  it('finds the matching price by a choice of the available values', async () => {
    const { url: pricesUri } = await embed(prices, { data: createTemporaryFolder(), sample: 'no' }).then(stopAfterwards)
    const put = async (term: string, router: string, value: number) => {
      const { status } = await sendRequest(`${pricesUri}/prices/${randomUUID()}`, 'PUT', {
        body: {
          offeringId: MARKUP,
          groupId: 'business',
          priceSpecId: 'monthly',
          charValues: [
            { char: 'Term', value: term },
            { char: 'Router', value: router },
          ],
          value,
          currency: 'EUR',
        },
      })
      expect(status).toBe(201)
    }
    await put('12', 'Included', 9.5)
    await put('12', 'None', 8)
    await put('24', 'None', 7)
    const stack = await startStack({ dashboard: { pricesUri } })
    const page = await openPage()
    await page.goto(stack.url)
    await page.getByRole('link', { name: 'Prices' }).click()
    await page.getByText('3 prices match').waitFor()
    const choose = async (list: string, option: string) => {
      await page.getByLabel(list, { exact: true }).click()
      await page.getByRole('option', { name: option, exact: true }).click()
    }
    await choose('Offering', `${MARKUP} 3`)
    await choose('Group', 'business 3')
    await choose('Spec', 'monthly 3')
    await page.getByText('Several prices match').waitFor()
    await choose('Term', '12 2')
    // The amounts follow in the same paragraph as soon as they are read.
    await page.getByText(/^2 prices match/).waitFor()
    // The alternatives to the chosen value remain available.
    await choose('Router', 'None 1')
    await page.locator('.price', { hasText: '€8.00' }).waitFor()
    const left = await page.locator('.funnel b').allInnerTexts()
    expect(left.map(Number)).toEqual([3, 3, 3, 2, 1, 1])
    expect(await checkAccessibility(page)).toEqual([])
    await page.reload()
    await page.locator('.price', { hasText: '€8.00' }).waitFor()
    expect(await page.evaluate('globalThis.hit')).toBeUndefined()
  })

  it('passes axe in light and in dark, and fits the width of a phone', async () => {
    const stack = await startStack()
    await advanceTime(stack, 0)
    await stack.stats.put('a', { videos: VIDEOS, name: 'Spring', tags: ['drinks'], cost: 10, currency: 'EUR' })
    await stack.stats.put('b', { videos: [VIDEOS[1]!, 'abcdefghij_'], name: 'Autumn' })
    await advanceTime(stack, 50)
    const page = await openPage({ viewport: { width: 390, height: 844 } })
    async function expectNothing(what: string): Promise<void> {
      await page.emulateMedia({ colorScheme: 'light' })
      expect([what, await checkAccessibility(page)]).toEqual([what, []])
      // Only colours differ.
      await page.emulateMedia({ colorScheme: 'dark' })
      expect([what, 'dark', await checkAccessibility(page, COLOURS)]).toEqual([what, 'dark', []])
    }
    const screens = [
      '/',
      '/campaigns/a',
      '/campaigns/b',
      '/compare?c=a&c=b',
      '/health',
      '/campaigns/none',
      '/?q=nothing',
    ]
    for (const path of screens) {
      await page.setViewportSize({ width: 390, height: 844 })
      await page.goto(stack.url + path)
      await page.locator('main h1, main .fault, main .none').first().waitFor()
      await page.waitForLoadState('load')
      const width = await page.evaluate('document.documentElement.scrollWidth')
      expect([path, width]).toEqual([path, 390])
      await page.setViewportSize({ width: 1_280, height: 900 })
      await expectNothing(path)
    }
    await page.goto(`${stack.url}/campaigns/a`)
    for (const name of ['Share', 'Edit']) {
      await page.getByRole('button', { name }).click()
      await page.locator('dialog[open]').waitFor()
      await expectNothing(name)
      await page.keyboard.press('Escape')
      await waitUntil(async () => (await page.locator('dialog').count()) === 0)
    }
  })
})
