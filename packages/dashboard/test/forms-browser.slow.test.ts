import { waitUntil } from '@influencer-stats/runtime/testing/wait-until'
import type { BrowserContextOptions, Page } from 'playwright-core'
import { describe, expect, it } from 'vitest'
import { openPage } from './support/browser.ts'
import { sendRequest, startStack, type TestStack } from './support/test-stack.ts'

const VIDEOS = ['1FEFpk-uIYo', 'abcdefghijk']

async function open(url: string, options?: BrowserContextOptions): Promise<Page> {
  const page = await openPage(options)
  await page.goto(url)
  return page
}

/** Opens the dialog that edits campaign `a`. */
async function openEdit(stack: TestStack, options?: BrowserContextOptions): Promise<Page> {
  const page = await open(`${stack.url}/campaigns/a`, options)
  await page.getByRole('button', { name: /^(Edit|Bearbeiten)$/ }).click()
  await page.locator('dialog[open]').waitFor()
  return page
}

async function save(page: Page): Promise<void> {
  await page.getByRole('button', { name: /^(Save|Speichern)/ }).click()
  await page.locator('dialog').waitFor({ state: 'detached' })
}

describe('forms in Chromium', () => {
  it('send only changed fields: an edit in another tab survives', async () => {
    const stack = await startStack()
    await stack.stats.put('a', { videos: VIDEOS, name: 'Spring', cost: 100, currency: 'EUR' })
    const [first, second] = [await openEdit(stack), await openEdit(stack)]
    await first.locator('[name=cost]').fill('2500')
    await save(first)
    await second.locator('dialog [name=name]').fill('Summer')
    await save(second)
    expect(await stack.stats.get('a')).toMatchObject({ name: 'Summer', cost: 2_500, currency: 'EUR' })
  })

  it('show a conflict for a field that changed on both sides, and preserve the others', async () => {
    const stack = await startStack()
    await stack.stats.put('a', { videos: VIDEOS, name: 'Spring', tags: ['drinks'] })
    const page = await openEdit(stack)
    await stack.stats.patch('a', { name: 'Autumn', tags: ['food'] })
    await page.locator('dialog [name=name]').fill('Summer')
    await page.locator('[name=from]').fill('2026-03-01')
    await page.getByRole('button', { name: /^Save/ }).click()
    await page.locator('dialog').getByText('Another user changed this in the meantime, to Autumn.').waitFor()
    expect(await stack.stats.get('a')).toMatchObject({ name: 'Autumn' })
    await expect.poll(() => page.locator('[name=tags]').inputValue()).toBe('food')
    await save(page)
    expect(await stack.stats.get('a')).toMatchObject({ name: 'Summer', tags: ['food'], from: '2026-03-01' })
  })

  it('keep typed input when the pointer is released outside, on Escape and when the campaign is deleted elsewhere', async () => {
    const stack = await startStack()
    await stack.stats.put('a', { videos: VIDEOS, name: 'Spring' })
    const page = await openEdit(stack)
    const name = page.locator('dialog [name=name]')
    await name.fill('Summer of a thousand bottles')
    const box = (await name.boundingBox())!
    await page.mouse.move(box.x + box.width / 2, box.y + box.height / 2)
    await page.mouse.down()
    await page.mouse.move(5, 5)
    await page.mouse.up()
    expect(await name.inputValue()).toBe('Summer of a thousand bottles')
    for (let i = 0; i < 3; i++) await page.keyboard.press('Escape')
    await page.getByText('Discard the changes?').waitFor()
    await page.getByRole('button', { name: 'Continue editing' }).click()
    await page.mouse.click(5, 5)
    await page.getByText('Discard the changes?').waitFor()
    expect(await name.inputValue()).toBe('Summer of a thousand bottles')
    await stack.stats.delete('a')
    await page.getByRole('button', { name: 'Continue editing' }).click()
    await page.getByRole('button', { name: /^Save/ }).click()
    await page.getByRole('alert').getByText('no such campaign').waitFor()
    expect(await name.inputValue()).toBe('Summer of a thousand bottles')
    await page.keyboard.press('Escape')
    await page.getByRole('button', { name: 'Discard', exact: true }).click()
    await page.locator('dialog').waitFor({ state: 'detached' })
  })

  it('keep typed input on Back and through a new sign-in', async () => {
    const stack = await startStack({ all: { apiToken: 'the-token' } })
    await stack.stats.put('a', { videos: VIDEOS, name: 'Spring' })
    const page = await open(stack.url)
    async function signIn(): Promise<void> {
      await page.getByLabel('Token').fill('the-token')
      await page.getByRole('button', { name: 'Sign in' }).click()
    }
    await signIn()
    await page.getByRole('button', { name: 'New campaign' }).click()
    await page.getByLabel('YouTube links').fill('https://youtu.be/1FEFpk-uIYo')
    await page.evaluate(`history.pushState(null, '', '/health'); dispatchEvent(new PopStateEvent('popstate'))`)
    await page.getByRole('heading', { name: 'Health' }).waitFor()
    await page.goBack()
    await waitUntil(
      async () => (await page.getByLabel('YouTube links').inputValue()) === 'https://youtu.be/1FEFpk-uIYo',
    )
    await page.locator('dialog[open]').waitFor()
    await page.keyboard.press('Escape')
    await page.getByRole('button', { name: 'Discard', exact: true }).click()
    await page.getByRole('link', { name: 'Spring' }).click()
    await page.getByRole('button', { name: 'Edit' }).click()
    await page.locator('dialog [name=name]').fill('Summer')
    await page.goBack()
    await page.getByRole('heading', { name: 'Campaigns' }).waitFor()
    await page.goForward()
    await waitUntil(async () => (await page.locator('dialog [name=name]').inputValue()) === 'Summer')
    // The session ends while the form is open.
    await page.context().clearCookies()
    // The page may notice that before the form does.
    await page
      .getByLabel('Token')
      .or(page.getByRole('button', { name: /^Save/ }))
      .first()
      .click()
    await signIn()
    await waitUntil(async () => (await page.locator('dialog [name=name]').inputValue()) === 'Summer')
    await save(page)
    expect(await stack.stats.get('a')).toMatchObject({ name: 'Summer' })
  })

  it('add the valid ones of several links, and leave the rest in the field', async () => {
    const stack = await startStack()
    await stack.stats.put('a', { videos: [] })
    const page = await open(`${stack.url}/campaigns/a`)
    const links = page.getByLabel('Links of videos to add')
    await links.fill(`${VIDEOS[0]} https://example.com/another-page https://youtu.be/${VIDEOS[1]}`)
    await page.getByRole('button', { name: /^Add/ }).click()
    await page.getByText('example.com/another-page').waitFor()
    await waitUntil(async () => (await stack.stats.get('a'))!.videos.join() === VIDEOS.join())
    await waitUntil(async () => (await links.inputValue()) === 'https://example.com/another-page')
  })

  it('keep the links of a new campaign when another one appears', async () => {
    const stack = await startStack()
    const page = await open(stack.url)
    const links = page.getByLabel('YouTube links')
    await links.fill('https://youtu.be/1FEFpk-uIYo')
    await stack.stats.put('other', { videos: VIDEOS })
    // The form is a dialog from now on. Its preview is a table, too.
    await page.locator('table.campaigns tbody tr').waitFor()
    expect(await links.inputValue()).toBe('https://youtu.be/1FEFpk-uIYo')
    await page.getByRole('button', { name: 'Start campaign' }).click()
    await page.waitForURL(/\/campaigns\/\w+$/)
  })

  it('remove a video only after the time for Undo', async () => {
    const stack = await startStack()
    await stack.stats.put('a', { videos: VIDEOS, name: 'Spring', tags: ['drinks'] })
    await stack.stats.put('b', { videos: VIDEOS })
    const page = await open(`${stack.url}/campaigns/a`)
    await page.locator('table.videos tbody tr').nth(1).waitFor()
    const remove = page.getByRole('button', { name: /^Remove / }).first()
    await remove.click()
    await page.getByRole('button', { name: 'Undo' }).click()
    await remove.click()
    await page.getByRole('button', { name: 'Remove now' }).click()
    await waitUntil(async () => (await stack.stats.get('a'))!.videos.length === 1)
    await waitUntil(async () => (await page.locator('table.videos tbody tr').count()) === 1)
  })

  it('archive, delete and restore a campaign, whose links are dead while it is deleted', async () => {
    const stack = await startStack()
    await stack.stats.put('a', { videos: VIDEOS, name: 'Spring', tags: ['drinks'] })
    await stack.stats.put('b', { videos: VIDEOS })
    const { body: link } = await sendRequest(`${stack.url}/links`, 'POST', { body: { campaign: 'a' } })
    const readLink = async () => (await fetch(`${stack.url}${link.path}/campaign`)).status
    expect(await readLink()).toBe(200)
    const page = await open(`${stack.url}/campaigns/a`)
    const act = async (name: string) => {
      await page.getByRole('button', { name: 'Edit' }).click()
      await page.getByRole('button', { name, exact: true }).click()
    }
    const undo = (sentence: string) =>
      page.locator('.undo', { hasText: sentence }).getByRole('button', { name: 'Undo' }).click()
    await act('Archive')
    await page.getByText('Archived: refreshed once a week').waitFor()
    expect((await stack.stats.get('a'))!.archived).toBe(true)
    await undo('1 campaign archived.')
    await page.getByText('Archived: refreshed once a week').waitFor({ state: 'detached' })
    expect((await stack.stats.get('a'))!.archived).toBe(undefined)

    const before = await stack.stats.get('a')
    await act('Delete campaign')
    await page.locator('table.campaigns tbody tr').waitFor()
    expect(await readLink()).toBe(410)
    expect(await page.getByRole('link', { name: 'Spring' }).count()).toBe(0)
    await undo('1 campaign moved to the trash.')
    await page.getByRole('link', { name: 'Spring' }).click()
    expect(await stack.stats.get('a')).toEqual({ ...before, version: expect.any(String) })
    expect(await readLink()).toBe(200)

    // The copy opens at once.
    await act('Duplicate')
    await page.getByRole('heading', { name: 'Spring (copy)' }).waitFor()
    const { collections } = await stack.stats.list({ q: 'copy' })
    expect(collections).toMatchObject([{ name: 'Spring (copy)', videos: VIDEOS, tags: ['drinks'] }])
    await page.goto(`${stack.url}/campaigns/a`)

    // A campaign that another person deletes meanwhile stays in the trash.
    await page.getByRole('button', { name: 'Edit' }).click()
    await stack.stats.delete('a')
    await page.getByRole('button', { name: 'Delete campaign' }).click()
    await page.locator('.undo', { hasText: '1 campaign was not changed' }).waitFor()
    await page.goto(`${stack.url}/campaigns/a`)
    await page.getByRole('link', { name: 'Trash' }).click()
    await page.getByRole('button', { name: 'Restore Spring' }).waitFor()
  })

  it('show days as stored, west of Greenwich and for clients too', async () => {
    const stack = await startStack()
    await stack.stats.put('a', { videos: VIDEOS, from: '2026-03-01', to: '2026-05-31' })
    const page = await open(`${stack.url}/campaigns/a`, { timezoneId: 'America/New_York' })
    await page.getByText('Mar 1, 2026 – May 31, 2026').waitFor()
    await page.getByRole('button', { name: 'Share' }).click()
    await page.getByRole('button', { name: 'Create a link' }).click()
    const link = await page.getByLabel('Link', { exact: true }).inputValue()
    const client = await open(link, { timezoneId: 'America/New_York' })
    await client.getByText('Mar 1, 2026 – May 31, 2026').waitFor()
  })

  it("read money as the reader's locale writes it, with a preview and currencies by name", async () => {
    const stack = await startStack()
    await stack.stats.put('a', { videos: VIDEOS })
    const page = await openEdit(stack, { locale: 'de-DE' })
    await page.locator('[name=cost]').fill('12.500,00')
    await page.locator('[name=currency]').selectOption({ label: 'EUR – Euro' })
    await page.getByText('12.500,00\u00A0€').waitFor()
    await save(page)
    expect(await stack.stats.get('a')).toMatchObject({ cost: 12_500, currency: 'EUR' })
    const other = await openEdit(stack)
    await other.locator('[name=cost]').fill('13.500')
    await other.getByText('could be 13.5 or 13,500').waitFor()
    await other.locator('[name=cost]').fill('13.500,25')
    await other.getByText('€13,500.25').waitFor()
    await save(other)
    expect(await stack.stats.get('a')).toMatchObject({ cost: 13_500.25, currency: 'EUR' })
  })

  it('isolate names, and show a fallback for blank ones', async () => {
    const stack = await startStack()
    await stack.stats.put('blank', { videos: VIDEOS, name: '\u3164 \u200B' })
    await stack.stats.put('hebrew', { videos: VIDEOS, name: 'אבג 123' })
    const page = await open(stack.url)
    await page.getByRole('link', { name: 'blank' }).waitFor()
    await page.locator('bdi').getByText('אבג 123').waitFor()
    await page.getByRole('link', { name: 'blank' }).click()
    await page.locator('h1 bdi').getByText('blank').waitFor()
  })

  it('answer every refusal with a sentence', async () => {
    const stack = await startStack()
    await stack.stats.put('a', { videos: VIDEOS, name: 'Spring' })
    const page = await openEdit(stack)
    await page.locator('[name=tags]').fill(`fine, ${'x'.repeat(51)}`)
    await page.getByRole('button', { name: /^Save/ }).click()
    await page.getByRole('alert').getByText('at most 50 characters').waitFor()
    await page.locator('[name=tags]').fill('fine')
    await page.locator('[name=from]').fill('2026-03-02')
    await page.locator('[name=to]').fill('2026-03-01')
    await page.getByRole('button', { name: /^Save/ }).click()
    await page.getByRole('alert').getByText('Choose a last day').waitFor()
  })
})
