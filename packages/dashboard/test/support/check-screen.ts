import { waitUntil } from '@influencer-stats/runtime/testing/wait-until'
import type { Page } from 'playwright-core'
import { expect } from 'vitest'
import { checkAccessibility, COLOURS } from './browser.ts'

const { SHOTS } = process.env

/**
 * Fails if axe finds a violation in light or in dark, or the page is wider than a phone.
 * @param name of its screenshots, which are taken into the folder `SHOTS`
 */
export async function checkScreen(page: Page, name: string): Promise<void> {
  const faults: string[] = []
  const preview = page.locator('.preview').first()
  if (SHOTS && (await preview.count()) > 0) await preview.scrollIntoViewIfNeeded()
  for (const colorScheme of ['light', 'dark'] as const) {
    await page.emulateMedia({ colorScheme })
    faults.push(...(await checkAccessibility(page, colorScheme === 'light' ? undefined : COLOURS)))
    if (SHOTS) await page.screenshot({ path: `${SHOTS}/${name}-${colorScheme}.png` })
  }
  await page.setViewportSize({ width: 390, height: 800 })
  // Charts get their new width after the page, whose policy forbids the `eval` by which `waitForFunction` repeats a text.
  await waitUntil(() => page.evaluate<boolean>('document.documentElement.scrollWidth <= 390'))
  if (SHOTS && (await preview.count()) > 0) await preview.scrollIntoViewIfNeeded()
  if (SHOTS) await page.screenshot({ path: `${SHOTS}/${name}-390.png` })
  await page.setViewportSize({ width: 1_280, height: 800 })
  await page.emulateMedia({ colorScheme: 'light' })
  expect(faults).toEqual([])
}
