import { describe, expect, it } from 'vitest'
import { checkAccessibility, openPage, waitUntilLinkEnds } from './support/browser.ts'
import { startStack } from './support/test-stack.ts'

const VIDEO = '1FEFpk-uIYo'

describe('in Chromium', () => {
  it('the links of deleted campaigns are listed and can be revoked; their readers get a sentence', async () => {
    const { url, stats } = await startStack()
    await stats.put('spring', { videos: [VIDEO], name: 'Spring' })
    await stats.put('autumn', { videos: [VIDEO], name: 'Autumn' })
    const page = await openPage()
    const links: string[] = []
    for (const id of ['spring', 'autumn']) {
      await page.goto(`${url}/campaigns/${id}`)
      await page.getByRole('button', { name: 'Share' }).click()
      await page.getByRole('button', { name: 'Create a link' }).click()
      links.push(await page.getByLabel('Link', { exact: true }).inputValue())
    }
    const open = await openPage()
    await open.goto(links[0]!)
    await open.getByRole('heading', { name: 'Spring' }).waitFor()
    await stats.delete('spring')
    await stats.put('spring', { videos: [VIDEO], name: 'Of another client' })

    // An open page does not continue with the other campaign.
    await waitUntilLinkEnds(open)
    expect(await open.locator('body').innerText()).not.toContain('Of another client')

    await page.goto(`${url}/client-links`)
    const row = (name: string) => page.getByRole('listitem').filter({ hasText: name })
    await row('Spring').getByText('The campaign was deleted: this link shows nothing.').waitFor()
    await expect.poll(() => page.getByLabel('Link to Autumn').inputValue()).toBe(links[1])
    expect(await checkAccessibility(page)).toEqual([])
    await row('Spring').getByRole('button', { name: 'Revoke' }).click()
    await row('Spring').waitFor({ state: 'detached' })
    expect(await row('Autumn').count()).toBe(1)

    const client = await openPage()
    await client.goto(links[0]!)
    await waitUntilLinkEnds(client)
    // Nothing will come live again, and there are no numbers.
    await client.getByText('The connection is lost.').waitFor({ state: 'detached' })
    await client.getByText('Invented numbers.').waitFor({ state: 'detached' })
    expect(await client.locator('body').innerText()).not.toContain('Of another client')
    await client.goto(links[1]!)
    await client.getByRole('heading', { name: 'Autumn' }).waitFor()
  })

  it('an unknown path is a page with a link to the campaigns', async () => {
    const { url } = await startStack({ all: { apiToken: 'for-changes' } })
    const page = await openPage()
    for (const path of ['/nope', '/shared/a/nope', '/campaigns/a/b']) {
      expect((await page.goto(url + path))!.status()).toBe(404)
      await page.getByRole('heading', { name: 'There is nothing at this address' }).waitFor()
    }
    expect(await checkAccessibility(page)).toEqual([])
    await page.getByRole('main').getByRole('link', { name: 'Campaigns' }).click()
    await page.getByRole('heading', { name: 'Sign in' }).waitFor()
  })
})
