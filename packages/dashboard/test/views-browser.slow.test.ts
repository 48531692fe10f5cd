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
    const page = await openPage()
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
    await expect.poll(() => view.getAttribute('aria-current')).toBe('page')
    expect(await page.getByRole('button', { name: 'Save view' }).count()).toBe(0)
    // Two views cannot have the same name.
    await page.getByRole('button', { name: 'Show all' }).click()
    await save('Thirds, from Z')
    await page.getByText('Another view has this name.').waitFor()
    await page.locator('dialog [name=name]').fill('From Z')
    await page.getByRole('button', { name: 'Save', exact: true }).click()
    await page.getByRole('link', { name: 'From Z', exact: true }).waitFor()

    const other = await openPage()
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

  it('a selection is tagged, archived, deleted and restored on a phone', { timeout: 120_000 }, async () => {
    const stack = await startStack()
    await createManyCampaigns(stack, 30)
    for (const colorScheme of ['light', 'dark'] as const) {
      const page = await openPage({ colorScheme, viewport: { width: 390, height: 844 } })
      await page.goto(`${stack.url}/?sort=name`)
      const select = async (...numbers: number[]) => {
        for (const number of numbers)
          await page.getByRole('checkbox', { name: `Select Campaign ${number}`, exact: true }).check()
      }
      const undo = (sentence: string) =>
        page.locator('.undo', { hasText: sentence }).getByRole('button', { name: 'Undo' }).click()
      const bar = page.getByRole('region', { name: 'Selection' })
      await select(1, 2, 3)
      await bar.getByText('3 selected').waitFor()
      expect(await page.evaluate<number>('document.documentElement.scrollWidth')).toBe(390)
      expect(await checkAccessibility(page)).toEqual([])
      await page.locator('tr[data-index="12"]').scrollIntoViewIfNeeded()
      if (SHOTS) await page.screenshot({ path: `${SHOTS}/bulk-phone-${colorScheme}.png` })
      await bar.getByPlaceholder('Tag').fill(colorScheme)
      await bar.getByRole('button', { name: 'Add tag' }).click()
      await page.getByText('3 campaigns have the tag now.').waitFor()
      await select(1, 2)
      await bar.getByRole('button', { name: 'Archive' }).click()
      await undo('2 campaigns archived.')
      await page.getByText('2 campaigns are active again.').waitFor()
      await select(2, 4)
      await bar.getByRole('button', { name: 'Delete' }).click()
      await undo('2 campaigns moved to the trash.')
      await page.getByText('2 campaigns restored.').waitFor()
      expect((await stack.stats.list({ tag: colorScheme })).collections).toHaveLength(3)
      expect((await stack.stats.list({ sort: 'name' })).total).toBe(30)
    }
  })

  it('many views take one line on a phone', async () => {
    const stack = await startStack()
    await createManyCampaigns(stack, 3)
    for (let i = 0; i < 30; i++)
      await sendRequest(`${stack.url}/views`, 'POST', { body: { name: `View number ${i}`, q: `${i}` } })
    for (const colorScheme of ['light', 'dark'] as const) {
      const page = await openPage({ colorScheme, viewport: { width: 390, height: 844 } })
      await page.goto(`${stack.url}/?q=7`)
      await page.getByRole('link', { name: 'View number 29' }).waitFor()
      expect(await page.evaluate<number>('document.documentElement.scrollWidth')).toBe(390)
      expect(await page.evaluate<number>("document.querySelector('.views ul').offsetHeight")).toBeLessThan(60)
      expect(await checkAccessibility(page)).toEqual([])
      if (SHOTS) await page.screenshot({ path: `${SHOTS}/views-phone-${colorScheme}.png` })
    }
  })
})
