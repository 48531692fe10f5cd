import { describe, expect, it } from 'vitest'
import { checkAccessibility, openPage } from './support/browser.ts'
import { startStack } from './support/test-stack.ts'

const VIDEO = '1FEFpk-uIYo'

describe('in Chromium', () => {
  it('the page has the language of the browser, and another one after a choice, for clients too', async () => {
    const { url, stats } = await startStack()
    await stats.put('spring', { videos: [VIDEO], name: 'Spring' })
    const page = await openPage({ locale: 'de-AT' })
    await page.goto(`${url}/client-links`)
    await page.getByRole('heading', { name: 'Kundenlinks' }).waitFor()
    await expect.poll(() => page.locator('html').getAttribute('lang')).toBe('de')
    await page.goto(`${url}/campaigns/spring`)
    await page.getByRole('heading', { name: 'Spring' }).waitFor()
    await page.getByRole('button', { name: 'English' }).click()
    await page.getByLabel('Language').waitFor()
    await expect.poll(() => page.locator('html').getAttribute('lang')).toBe('en')
    expect(page.url()).toBe(`${url}/campaigns/spring`)

    await page.getByRole('button', { name: 'Share' }).click()
    await page.getByRole('button', { name: 'Create a link' }).click()
    const link = await page.getByLabel('Link', { exact: true }).inputValue()
    const client = await openPage({ locale: 'fr-FR' })
    await client.goto(link)
    await client.getByRole('heading', { name: 'Spring' }).waitFor()
    await expect.poll(() => client.locator('html').getAttribute('lang')).toBe('en')
    await client.getByRole('button', { name: 'Deutsch' }).click()
    await client.getByLabel('Sprache').waitFor()
    await client.reload()
    await client.getByLabel('Sprache').waitFor()
    await expect.poll(() => client.locator('html').getAttribute('lang')).toBe('de')
    expect(await checkAccessibility(client)).toEqual([])
  })

  it('a page in English loads no texts in German', async () => {
    const { url } = await startStack()
    const page = await openPage()
    const paths: string[] = []
    page.on('request', (request) => void paths.push(new URL(request.url()).pathname))
    await page.goto(`${url}/client-links`)
    await page.getByRole('heading', { name: 'Client links' }).waitFor()
    expect(paths.filter((path) => path.includes('/texts/de'))).toEqual([])
    expect(paths.filter((path) => path.includes('/texts/en'))).not.toEqual([])
  })
})
