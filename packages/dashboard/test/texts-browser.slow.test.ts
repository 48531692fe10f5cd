import type { Page } from 'playwright-core'
import { prices } from '@influencer-stats/prices/service'
import { describe, expect, it } from 'vitest'
import { texts as german } from '../src/page/texts/de.ts'
import { texts as english } from '../src/page/texts/en.ts'
import type { PluralText } from '../src/page/texts/text-types.ts'
import { checkAccessibility, openPage } from './support/browser.ts'
import { start } from './support/start-service.ts'
import { startStack, type TestStack } from './support/test-stack.ts'
import { visitScreens, type Catalog } from './support/visit-screens.ts'

/** A folder for screenshots to look at. Without it there are none. */
const { SCREENSHOTS: screenshotFolder } = process.env

/** Full-width forms of letters, except in placeholders and names of elements. A text in them is marked as one of the page. */
const mark = (text: string) =>
  text.replace(/\{\w+\}|<\/?\w+>|[A-Za-z]/g, (part) =>
    part.length > 1 ? part : String.fromCodePoint(part.codePointAt(0)! + 0xfee0),
  )

const markAll = (found: string | PluralText) =>
  typeof found === 'string'
    ? mark(found)
    : (Object.fromEntries(Object.entries(found).map(([form, text]) => [form, mark(text)])) as unknown as PluralText)

const marked = Object.fromEntries(Object.entries(english).map(([key, found]) => [key, markAll(found)])) as Catalog

/** Opens a page whose German texts are marked. */
async function openMarked(): Promise<Page> {
  const page = await openPage({ locale: 'de-DE' })
  await page.route('**/texts/de.ts', (route) =>
    route.fulfill({ contentType: 'text/javascript', body: `export const texts = ${JSON.stringify(marked)}` }),
  )
  return page
}

/** Texts that belong to no language: the product, services, formats, addresses, and what `Intl` writes in German. */
const NEUTRAL = [
  /Influencer Stats|YouTube|CSV|XLSX|JSON/g,
  /\b(stats|sse|prices|kv|dashboard|youtube)\b|collections\/\S*/g,
  /https?:\S+/g,
  /(?<=\d\. )\p{L}+\.?/gu,
  /(?<=\d\s)(Mio|Mrd|[kMG]?B)\b/g,
]

/** The visible texts and descriptions of a page that are neither marked nor data. */
async function listUnmarked(page: Page): Promise<string[]> {
  const found: { texts: string[]; data: string[] } = await page.evaluate(() => {
    const { document, NodeFilter } = globalThis as any
    const DATA = 'bdi, code, script, style, noscript, .foot, .reports dl, [name=currency]'
    const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT)
    const texts: string[] = [document.title]
    for (let node = walker.nextNode(); node; node = walker.nextNode())
      if (!node.parentElement.closest(DATA)) texts.push(node.data)
    for (const name of ['aria-label', 'aria-valuetext', 'title', 'placeholder', 'alt', 'data-title', 'label'])
      for (const element of document.querySelectorAll(`[${name}]`)) texts.push(element.getAttribute(name))
    const data: string[] = [...document.querySelectorAll('bdi')].map((element: any) => element.textContent)
    data.sort((one, other) => other.length - one.length)
    return { texts, data }
  })
  const strip = (text: string) =>
    NEUTRAL.reduce(
      (rest, pattern) => rest.replace(pattern, ''),
      found.data.filter(Boolean).reduce((rest, one) => rest.replaceAll(one, ''), text),
    )
  return found.texts.map(strip).filter((text) => /[A-Za-zäöüß]{2}/.test(text))
}

/** The widths of the content of the page and of its dialogs, each with that of its box. Rounding adds up to a pixel. */
const MEASURE_SCRIPT = `[document.documentElement, ...document.querySelectorAll('dialog[open]')]
  .map(({ scrollWidth, clientWidth }) => [scrollWidth, clientWidth])`

/** The stack with a service of prices. */
async function startAll(): Promise<TestStack> {
  const { url: pricesUri } = await start(prices, { sample: 'yes' })
  return startStack({ dashboard: { pricesUri } })
}

describe('in Chromium', () => {
  it('every text and description on every screen is a text of the page or data', async () => {
    const stack = await startAll()
    const page = await openMarked()
    const problems: string[][] = []
    const check = async (name: string) => void problems.push(...(await listUnmarked(page)).map((text) => [name, text]))
    await visitScreens({ stack, page, catalog: marked, check })
    await page.goto(`${stack.url}/prices`)
    await page.locator('.result .quiet').first().waitFor()
    await check('prices')
    const address = await stack.restart({ apiToken: 'for-changes' })
    await page.goto(address)
    await page.locator('[name=token]').fill('wrong')
    await page.locator('button.primary').click()
    await page.locator('.fault').waitFor()
    await check('sign-in')
    expect(problems).toEqual([])
  })

  it('German fits a phone and has no violation', async () => {
    const stack = await startAll()
    const page = await openPage({ locale: 'de-DE', viewport: { width: 390, height: 844 } })
    const problems: unknown[] = []
    async function check(name: string): Promise<void> {
      if (screenshotFolder) await page.screenshot({ path: `${screenshotFolder}/${name}.png`, fullPage: true })
      const widths = await page.evaluate<[number, number][]>(MEASURE_SCRIPT)
      if (widths.some(([inner, outer]) => inner > outer + 1)) problems.push([name, widths])
      problems.push(...(await checkAccessibility(page)).map((violation) => [name, violation]))
    }
    await visitScreens({ stack, page, catalog: german, check })
    await page.goto(`${stack.url}/prices`)
    await page.locator('.result .quiet').first().waitFor()
    await check('prices')
    expect(problems).toEqual([])
  })
})
