import { waitUntil } from '@influencer-stats/runtime/testing/wait-until'
import { describe, expect, it } from 'vitest'
import { checkAccessibility, openPage } from './support/browser.ts'
import { createManyCampaigns } from './support/many-campaigns.ts'
import { sendRequest, startStack } from './support/test-stack.ts'

const SHOTS = process.env.SCREENSHOTS

describe('in Chromium', () => {
  it('a view is saved, opened by another user, removed and restored', async () => {
    const stack = await startStack()
    await createManyCampaigns(stack, 9)
    const page = await openPage({ reducedMotion: 'reduce' })
    await page.goto(`${stack.url}/?sort=name`)
    await page.getByRole('button', { name: 'Save view' }).waitFor()
    await page.goto(`${stack.url}/?sort=-name&tag=third`)
    const save = async (name: string) => {
      await page.getByRole('button', { name: 'Save view' }).click()
      await page.locator('dialog [name=name]').fill(name)
      await page.getByRole('button', { name: 'Save', exact: true }).click()
    }
    await save('Thirds, from Z')
    const view = page.getByRole('link', { name: 'Thirds, from Z' })
    await view.waitFor()
    expect(await view.getAttribute('aria-current')).toBe('page')
    expect(await page.getByRole('button', { name: 'Save view' }).count()).toBe(0)
    // Two views cannot have the same name.
    await page.getByRole('button', { name: 'Show all' }).click()
    await save('Thirds, from Z')
    await page.getByText('Another view has this name.').waitFor()
    await page.locator('dialog [name=name]').fill('From Z')
    await page.getByRole('button', { name: 'Save', exact: true }).click()
    await page.getByRole('link', { name: 'From Z', exact: true }).waitFor()

    const other = await openPage({ reducedMotion: 'reduce' })
    await other.goto(stack.url)
    await other.getByRole('link', { name: 'Thirds, from Z' }).click()
    await waitUntil(async () => (await other.locator('tbody a.name').allInnerTexts()).join().startsWith('Campaign 6,'))
    expect(new URL(other.url()).search).toBe('?sort=-name&tag=third')
    expect(await checkAccessibility(other)).toEqual([])
    if (SHOTS) await other.screenshot({ path: `${SHOTS}/views.png` })
    await other.getByRole('button', { name: 'Remove view' }).click()
    await other.getByRole('link', { name: 'Thirds, from Z' }).waitFor({ state: 'detached' })
    expect((await sendRequest(`${stack.url}/views`)).body.views).toHaveLength(1)
    await other.getByRole('button', { name: 'Undo' }).click()
    await other.getByRole('link', { name: 'Thirds, from Z' }).waitFor()
  })

  it('many views take one line on a phone', async () => {
    const stack = await startStack()
    await createManyCampaigns(stack, 3)
    for (let i = 0; i < 30; i++)
      await sendRequest(`${stack.url}/views`, 'POST', { body: { name: `View number ${i}`, q: `${i}` } })
    for (const colorScheme of ['light', 'dark'] as const) {
      const page = await openPage({ reducedMotion: 'reduce', colorScheme, viewport: { width: 390, height: 844 } })
      await page.goto(`${stack.url}/?q=7`)
      await page.getByRole('link', { name: 'View number 29' }).waitFor()
      expect(await page.evaluate<number>('document.documentElement.scrollWidth')).toBe(390)
      expect(await page.evaluate<number>("document.querySelector('.views ul').offsetHeight")).toBeLessThan(60)
      expect(await checkAccessibility(page)).toEqual([])
      if (SHOTS) await page.screenshot({ path: `${SHOTS}/views-phone-${colorScheme}.png` })
    }
  })
})
