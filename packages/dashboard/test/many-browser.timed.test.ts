import { writeFileSync } from 'node:fs'
import { waitUntil } from '@influencer-stats/runtime/testing/wait-until'
import type { Page } from 'playwright-core'
import { describe, expect, it } from 'vitest'
import { checkAccessibility, openPage } from './support/browser.ts'
import { measureLongestTask } from './support/main-thread-work.ts'
import { createManyCampaigns, toManyId } from './support/many-campaigns.ts'
import { sendRequest, startStack } from './support/test-stack.ts'

const COUNT = Number(process.env.CAMPAIGNS ?? 10_000)
/** Maximum duration of a frame while the list scrolls (ms). Only a quiet machine can guarantee one. */
const LONGEST_FRAME = Number(process.env.FRAME_MS ?? Infinity)
/** Maximum processor time of one task of the page while the list scrolls (ms). */
const MAX_WORK = 100
/** A row in the middle of the list. */
const TARGET = 2 * Math.floor(COUNT / 3)
const SHOTS = process.env.SCREENSHOTS

const rowAt = (page: Page, index: number) => page.locator(`tr[data-index="${index}"] a.name`)

/** Scrolls through the list in `steps` frames, and returns the durations of the frames (ms), the longest first. */
const measureScroll = (page: Page, steps: number, distance: number) =>
  page.evaluate<number[]>(`new Promise((resolve) => {
    const frames = []
    let last = performance.now()
    let step = 0
    requestAnimationFrame(function next(now) {
      frames.push(now - last)
      last = now
      if (step++ === ${steps}) return resolve(frames.slice(1).sort((a, b) => b - a))
      scrollBy(0, ${distance})
      requestAnimationFrame(next)
    })
  })`)

describe('10,000 campaigns in Chromium', () => {
  it('scroll with short frames, by keyboard, and are restored after Back', { timeout: 600_000 }, async () => {
    const stack = await startStack({ refreshInterval: 3_600_000 })
    await createManyCampaigns(stack, COUNT)
    const page = await openPage()
    await page.goto(`${stack.url}/?sort=name`)
    await rowAt(page, 0).waitFor()
    await expect.poll(() => page.locator('table.campaigns').getAttribute('aria-rowcount')).toBe(String(COUNT + 1))
    expect(await page.locator('tbody tr[data-index]').count()).toBeLessThan(80)
    expect(await checkAccessibility(page)).toEqual([])
    if (SHOTS) await page.screenshot({ path: `${SHOTS}/many.png` })

    const longest: number[] = []
    // A reader's wheel, jumps of a page, and a drag of the scroll bar.
    for (const [steps, distance] of [
      [300, 60],
      [100, 700],
      [60, 9_000],
    ] as const) {
      let frames: number[] = []
      const work = await measureLongestTask(page, async () => (frames = await measureScroll(page, steps, distance)))
      longest.push(Math.round(frames[0]!), Math.round(work))
      expect(work).toBeLessThan(MAX_WORK)
      expect(frames[0]).toBeLessThan(LONGEST_FRAME)
    }
    if (SHOTS) writeFileSync(`${SHOTS}/frames.json`, JSON.stringify(longest))
    // The rows where it stops appear, each at its position.
    const height = await page.evaluate<number>("document.querySelector('tr[data-index] td').offsetHeight")
    await page.evaluate(`scrollTo(0, ${TARGET} * ${height})`)
    await rowAt(page, TARGET).waitFor()
    await expect.poll(() => rowAt(page, TARGET).innerText()).toMatch(new RegExp(`^Campaign ${TARGET}`))
    const before = await page.evaluate<number>('scrollY')
    await waitUntil(() => page.evaluate<boolean>('history.state.scroll === scrollY'))
    await rowAt(page, TARGET).click()
    await page.locator('main h1', { hasText: `Campaign ${TARGET}` }).waitFor()
    await page.goBack()
    await rowAt(page, TARGET).waitFor()
    await waitUntil(async () => Math.abs((await page.evaluate<number>('scrollY')) - before) < 2)

    // The arrow keys move through the rows, and the focus stays while its row is out of sight.
    await rowAt(page, TARGET).focus()
    const focused = () => page.evaluate<string>("document.activeElement.closest('tr')?.dataset.index")
    for (let i = 1; i <= 30; i++) {
      await page.keyboard.press('ArrowDown')
      // More rows appear in the next frame, which a busy browser draws late.
      await expect.poll(focused).toBe(String(TARGET + i))
    }
    await page.evaluate(`scrollTo(0, ${TARGET / 2} * ${height})`)
    await rowAt(page, TARGET / 2).waitFor()
    expect(await focused()).toBe(String(TARGET + 30))
    expect(await checkAccessibility(page)).toEqual([])
    if (SHOTS) await page.screenshot({ path: `${SHOTS}/many-scrolled.png` })
  })

  it('are filtered, tagged, archived, deleted and restored together', { timeout: 600_000 }, async () => {
    const stack = await startStack({ refreshInterval: 3_600_000 })
    await createManyCampaigns(stack, 660)
    const page = await openPage()
    await page.goto(`${stack.url}/?sort=name&tag=third`)
    const count = page.locator('.list-head [role=status]')
    await waitUntil(async () => (await count.innerText()) === '220 campaigns')
    await page.getByRole('checkbox', { name: 'Select Campaign 3', exact: true }).check()
    await page.getByRole('button', { name: 'Select all 220' }).click()
    await page.getByText('220 selected').waitFor()
    await page.getByPlaceholder('Tag').fill('bulk')
    await page.getByRole('button', { name: 'Add tag' }).click()
    await page.getByText('220 campaigns have the tag now.').waitFor()
    expect((await stack.stats.list({ tag: 'bulk', limit: 1 })).total).toBe(220)

    await page.getByRole('checkbox', { name: 'Select Campaign 3', exact: true }).check()
    await page.getByRole('checkbox', { name: 'Select Campaign 6', exact: true }).check()
    if (SHOTS) await page.screenshot({ path: `${SHOTS}/selection.png` })
    expect(await checkAccessibility(page)).toEqual([])
    await page.getByRole('button', { name: 'Archive', exact: true }).last().click()
    await page.getByText('2 campaigns archived.').waitFor()
    await waitUntil(async () => (await count.innerText()) === '218 campaigns')
    await page.getByRole('button', { name: 'Archive', exact: true }).click()
    await waitUntil(async () => (await count.innerText()) === '2 campaigns')
    expect(page.url()).toContain('archived=true')
    if (SHOTS) await page.screenshot({ path: `${SHOTS}/archive.png` })
    await page.getByRole('button', { name: 'Active' }).click()

    // A link is dead at once, and works again after Undo.
    const { body: link } = await sendRequest(`${stack.url}/links`, 'POST', { body: { campaign: toManyId(12) } })
    const readLink = async () => (await fetch(`${stack.url}${link.path}/campaign`)).status
    expect(await readLink()).toBe(200)
    await page.getByRole('checkbox', { name: 'Select Campaign 12', exact: true }).check()
    await page.getByRole('button', { name: 'Delete', exact: true }).click()
    await page.getByText('1 campaign moved to the trash.').waitFor()
    expect(await readLink()).toBe(410)
    await waitUntil(async () => (await count.innerText()) === '217 campaigns')
    await page.locator('.undo', { hasText: 'moved to the trash' }).getByRole('button', { name: 'Undo' }).click()
    await page.getByText('1 campaign restored.').waitFor()
    await waitUntil(async () => (await count.innerText()) === '218 campaigns')
    expect(await readLink()).toBe(200)

    for (const number of [12, 15])
      await page.getByRole('checkbox', { name: `Select Campaign ${number}`, exact: true }).check()
    await page.getByRole('button', { name: 'Delete', exact: true }).click()
    await page.getByText('2 campaigns moved to the trash.').waitFor()
    await page.getByRole('link', { name: 'Trash' }).click()
    await page.getByRole('button', { name: 'Restore Campaign 12', exact: true }).click()
    await waitUntil(async () => (await page.locator('.trash li').count()) === 1)
    if (SHOTS) await page.screenshot({ path: `${SHOTS}/trash.png` })
    expect(await checkAccessibility(page)).toEqual([])
    await page.getByRole('button', { name: 'Delete for good: Campaign 15' }).click()
    await page.getByRole('button', { name: 'Delete now' }).click()
    await page.getByText('The trash is empty.').waitFor()
    expect((await stack.stats.listTrash()).collections).toEqual([])
    expect(await stack.stats.get(toManyId(12))).toBeDefined()
  })

  it('fit a phone, light and dark', { timeout: 600_000 }, async () => {
    const stack = await startStack({ refreshInterval: 3_600_000 })
    await createManyCampaigns(stack, 300)
    for (const colorScheme of ['light', 'dark'] as const) {
      const page = await openPage({ colorScheme, viewport: { width: 390, height: 844 } })
      await page.goto(`${stack.url}/?sort=name`)
      await rowAt(page, 20).scrollIntoViewIfNeeded()
      await page.evaluate('scrollTo(0, 20_000)')
      await rowAt(page, 205).waitFor()
      expect(await page.evaluate<number>('document.documentElement.scrollWidth')).toBe(390)
      if (SHOTS) await page.screenshot({ path: `${SHOTS}/phone-${colorScheme}.png` })
      expect(await checkAccessibility(page)).toEqual([])
    }
  })
})
