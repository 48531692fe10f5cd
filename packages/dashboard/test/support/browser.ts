import { createRequire } from 'node:module'
import { readFileSync } from 'node:fs'
import { onFileFinished } from '@influencer-stats/runtime/testing/on-file-finished'
import { findChromium } from '@influencer-stats/runtime/testing/chromium'
import { waitUntil } from '@influencer-stats/runtime/testing/wait-until'
import { chromium, type Browser, type BrowserContextOptions, type Page } from 'playwright-core'
import { expect, onTestFinished } from 'vitest'

let browser: Promise<Browser> | undefined

function launch(): Promise<Browser> {
  const launched = findChromium().then((found) => chromium.launch({ ...found, args: ['--no-sandbox'] }))
  onFileFinished(async () => {
    browser = undefined
    await (await launched).close()
  })
  return launched
}

/**
 * Opens a separate page, without animations: a number that has just changed is pale for a second, which is no fault of
 * its colours. Each of its faults fails the test: scripts that throw, refusals by the page's policy.
 */
export async function openPage(options: BrowserContextOptions = {}): Promise<Page & { readonly faults: string[] }> {
  browser ??= launch()
  const context = await (await browser).newContext({ locale: 'en-US', reducedMotion: 'reduce', ...options })
  context.setDefaultTimeout(60_000)
  const page = await context.newPage()
  const faults: string[] = []
  page.on('pageerror', (error) => void faults.push(String(error)))
  page.on('console', (message) => {
    if (message.type() === 'error' && !message.text().startsWith('Failed to load resource')) faults.push(message.text())
  })
  onTestFinished(async () => {
    await context.close()
    expect(faults).toEqual([])
  })
  return Object.assign(page, { faults })
}

/** Waits until a page states only that its link has ended. For a moment, several of its parts may state it. */
export const waitUntilLinkEnds = (page: Page): Promise<unknown> =>
  waitUntil(async () => {
    const statements = page.getByText('This link is no longer valid.').filter({ visible: true })
    return (await statements.count()) === 1
  })

const AXE = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8')
/** The rules that axe checks. */
interface Rules {
  readonly type: 'tag' | 'rule'
  readonly values: readonly string[]
}
const ALL_RULES: Rules = {
  type: 'tag',
  values: ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22aa', 'best-practice'],
}
/** The rules that depend only on colours. */
export const COLOURS: Rules = { type: 'rule', values: ['color-contrast', 'link-in-text-block'] }

/** The violations that axe finds on a page in its current state, a line each. */
export async function checkAccessibility(page: Page, rules = ALL_RULES): Promise<string[]> {
  // The page's policy forbids this script. It does not apply in an isolated world.
  await page.evaluate(AXE)
  const found = await page.evaluate(async (runOnly) => {
    const { violations } = await (globalThis as any).axe.run({ runOnly })
    return violations.flatMap(({ id, nodes }: any) => nodes.map(({ html }: any) => `${id}: ${html}`))
  }, rules)
  return found
}
