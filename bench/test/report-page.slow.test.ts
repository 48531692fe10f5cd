import { onFileFinished } from '@influencer-stats/runtime/testing/on-file-finished'
import { findChromium } from '@influencer-stats/runtime/testing/chromium'
import { chromium } from 'playwright-core'
import { describe, expect, it } from 'vitest'
import { renderReport } from '../src/report/html.ts'
import { readResults } from '../src/report/results.ts'
import { tables } from '../src/tables/all.ts'

/** Maximum height of the page with closed tables at 1280 px (px). */
const MAX_HEIGHT_PX = 8_000

const browser = await chromium.launch({ ...(await findChromium()), args: ['--no-sandbox'] })
onFileFinished(() => browser.close())
const html = renderReport(readResults(tables))

/** Sizes of the open page. The functions run in the browser. */
const openReport = async (width: number, height: number) => {
  const page = await browser.newPage({ viewport: { width, height } })
  await page.setContent(html)
  const measure = (code: string) => page.evaluate<number>(code)
  return {
    page,
    getWidth: () => measure('document.documentElement.scrollWidth'),
    getHeight: () => measure('document.documentElement.scrollHeight'),
    getFirstScreenEnd: () => measure("document.querySelector('.first').getBoundingClientRect().bottom"),
    openAll: () => measure("document.querySelectorAll('details').forEach((part) => (part.open = true))"),
    countCutTables: () =>
      measure(
        "[...document.querySelectorAll('.scroll')].filter((one) => one.scrollWidth > one.clientWidth + 1).length",
      ),
  }
}

describe('the page of the report', () => {
  it.each([
    [1280, 800],
    [390, 844],
  ])('shows five sentences and five bars on the first screen at %i px, and cuts no column', async (width, height) => {
    const report = await openReport(width, height)
    expect(await report.getFirstScreenEnd()).toBeLessThan(height)
    expect(await report.getWidth()).toBe(width)
    await report.openAll()
    expect(await report.getWidth()).toBe(width)
    expect(await report.countCutTables()).toBe(0)
  })

  it('has a short main part, and opens the table of a link', async () => {
    const report = await openReport(1280, 800)
    expect(await report.getHeight()).toBeLessThan(MAX_HEIGHT_PX)
    await report.page.evaluate("location.hash = 'kv-entity'")
    await report.page.waitForSelector('#kv-entity[open]')
  })
})
