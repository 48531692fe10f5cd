import { waitUntil } from '@influencer-stats/runtime/testing/wait-until'
import { expect, it } from 'vitest'
import { checkAccessibility, openPage } from './support/browser.ts'
import { startStack } from './support/test-stack.ts'

const VIDEOS = ['-4lB5EKS5Uk', '-jlLkTtgWUk', '1FEFpk-uIYo', 'short000001', 'aaaaaaaaa-L', 'aaaaaaaaa-U']
const SCREENSHOTS = process.env.CREATOR_SCREENSHOTS

/** Starts two campaigns whose creators are known. */
async function startCampaigns() {
  const stack = await startStack()
  await stack.stats.put('spring', { videos: VIDEOS, name: 'Spring', currency: 'EUR' })
  await stack.stats.put('summer', { videos: VIDEOS.slice(0, 2), name: 'Summer', cost: 500, currency: 'EUR' })
  const { creators } = await waitUntil(async () => {
    const found = (await stack.stats.get('spring', ['creators']))!
    return found.creators!.length > 2 && found.unattributed === undefined && found
  })
  // The channels, with their pictures, are read after the videos.
  await waitUntil(async () => {
    const all = (await stack.stats.listCreators()).creators
    return all.length === creators!.length && all.every(({ thumbnail }) => thumbnail !== undefined)
  })
  return { ...stack, creators: creators! }
}

it('a user sets a fee for each creator, and finds its cost on the screen of the creator', async () => {
  const { url, stats, creators } = await startCampaigns()
  const page = await openPage()
  await page.goto(`${url}/campaigns/spring?tab=creators`)
  const panel = page.getByRole('region', { name: 'Creators' })
  await panel.getByRole('link', { name: creators[0]!.title! }).waitFor()
  await expect.poll(() => panel.getByRole('row').count()).toBe(creators.length + 1)
  expect(await checkAccessibility(page)).toEqual([])

  await panel.getByRole('button', { name: 'Edit fees' }).click()
  await page.getByLabel(`Fee of ${creators[0]!.title}`, { exact: true }).fill('900')
  await page.getByLabel('Name of a person or a channel').fill('Bea & Co')
  await page.getByRole('button', { name: 'Add a person' }).click()
  await page.getByLabel('Fee of Bea & Co').fill('1,5,0')
  await page.getByRole('button', { name: 'Save' }).click()
  await page.getByText('Write the cost as a number').waitFor()
  await page.getByLabel('Fee of Bea & Co').fill('150.50')
  expect(await checkAccessibility(page)).toEqual([])
  // Another user changes the campaign meanwhile: the form says so before it replaces anything.
  await stats.patch('spring', { name: 'Spring 2' })
  await page.getByRole('button', { name: 'Save' }).click()
  await page.getByText('was changed in the meantime').waitFor()
  await page.getByRole('button', { name: 'Save' }).click()
  await panel.getByText('€900.00').waitFor()
  await panel.getByText('€150.50').waitFor()
  // The figures of the campaign have the sum of the fees.
  await page.locator('.card', { hasText: 'Per thousand views' }).getByText('of €1,050.50').waitFor()
  expect(await stats.get('spring')).toMatchObject({
    name: 'Spring 2',
    fees: [
      { creator: creators[0]!.id, amount: 900 },
      { creator: 'Bea & Co', amount: 150.5 },
    ],
  })
  await panel.getByRole('link', { name: creators[0]!.title! }).click()
  await page.getByRole('heading', { name: creators[0]!.title!, level: 1 }).waitFor()
  await page.getByRole('region', { name: 'Campaigns' }).getByText('€900.00').waitFor()
  expect(await checkAccessibility(page)).toEqual([])
  await page.getByRole('region', { name: 'Campaigns' }).getByRole('link', { name: 'Spring 2' }).click()
  await page.getByRole('heading', { name: 'Spring 2', level: 1 }).waitFor()
  await panel.getByRole('link', { name: 'Bea & Co' }).click()
  await page.getByRole('heading', { name: 'Bea & Co' }).waitFor()
  // Without videos there are no views, rather than 0.
  expect(await page.locator('.card', { hasText: 'Views' }).first().locator('strong').textContent()).toBe('–')
  await page.goto(`${url}/campaigns/summer?tab=creators`)
  await page.getByText('One cost for all: €500.00').waitFor()
})

it('the list of creators is ordered and searched by the server, and its address restores it', async () => {
  const { url, creators } = await startCampaigns()
  const page = await openPage()
  await page.goto(url)
  await page.getByRole('link', { name: 'Creators', exact: true }).click()
  const rows = page.locator('table.creators tbody tr')
  await waitUntil(async () => (await rows.count()) === creators.length)
  await expect.poll(() => rows.first().getByRole('link').textContent()).toBe(creators[0]!.title)
  expect(await checkAccessibility(page)).toEqual([])
  await page.getByRole('button', { name: /^Views/ }).click()
  await waitUntil(async () => (await rows.last().getByRole('link').textContent()) === creators[0]!.title)
  expect(new URL(page.url()).search).toBe('?sort=impressions')
  await page.getByLabel('Search creators by name or handle').fill(creators[0]!.title!)
  await waitUntil(async () => (await rows.count()) === 1)
  await page.reload()
  await waitUntil(async () => (await rows.count()) === 1)
  await page.getByLabel('Search creators by name or handle').fill('nobody has this name')
  await page.getByText('No creator matches this search.').waitFor()
  await page.goto(`${url}/creators/nobody`)
  await page.getByText('No such creator').waitFor()
})

it('creators have the pictures of their channels, and an initial if there is none', async () => {
  const { url } = await startCampaigns()
  const page = await openPage()
  await page.goto(`${url}/creators`)
  await page.locator('img.initial').first().waitFor()
  await waitUntil(() =>
    page
      .locator('img.initial')
      .evaluateAll((images: any[]) => images.every((image) => image.complete && image.naturalWidth === 88)),
  )
  await page.locator('.creator .name').first().click()
  await page.locator('h1 img.initial').waitFor()
  await page.route('**/thumbnails/channels/**', (route) => route.fulfill({ status: 404 }))
  await page.goto(`${url}/creators`)
  await page.locator('span.initial').first().waitFor()
  await waitUntil(async () => (await page.locator('img.initial').count()) === 0)
})

it('videos have pictures and labels, and are ordered and searched', async () => {
  const { url, stats } = await startCampaigns()
  const page = await openPage()
  await page.goto(`${url}/campaigns/spring`)
  const rows = page.locator('table.videos tbody tr')
  await waitUntil(async () => (await rows.count()) === VIDEOS.length)
  await waitUntil(async () => (await page.locator('.thumbnail img').count()) === VIDEOS.length)
  await waitUntil(() =>
    page
      .locator('.thumbnail img')
      .evaluateAll((images: any[]) => images.every((image) => image.complete && image.naturalWidth === 160)),
  )
  await rows.filter({ has: page.getByText('Live', { exact: true }) }).waitFor()
  await rows.filter({ has: page.getByText('Upcoming', { exact: true }) }).waitFor()
  expect(await checkAccessibility(page)).toEqual([])
  const videos = (await stats.listVideos('spring'))!.videos
  const byTitle = videos.map(({ title }) => title!).sort(new Intl.Collator('en', { numeric: true }).compare)
  await page
    .getByRole('columnheader', { name: /^Video/ })
    .getByRole('button')
    .click()
  await waitUntil(async () => (await rows.first().getByRole('link').textContent()) === byTitle[0])
  await page.getByLabel('Search the videos by title or channel').fill(byTitle[0]!)
  await waitUntil(async () => (await rows.count()) < VIDEOS.length)
  await page.getByLabel('Search the videos by title or channel').fill('no such video')
  await page.getByText('No video matches this search.').waitFor()
})

it('a video without a picture has a plain field in its place', async () => {
  const { url, stats } = await startStack({ dashboard: { thumbnailUri: 'http://127.0.0.1:9' } })
  await stats.put('offline', { videos: VIDEOS.slice(0, 2) })
  const page = await openPage()
  await page.goto(`${url}/campaigns/offline`)
  const fields = page.locator('.thumbnail')
  await waitUntil(async () => (await fields.count()) === 2 && (await page.locator('.thumbnail img').count()) === 0)
  expect((await fields.first().boundingBox())!.height).toBe(45)
})

it.runIf(SCREENSHOTS)('takes screenshots', async () => {
  const { url, stats, creators } = await startCampaigns()
  await stats.patch('spring', {
    fees: [
      { creator: creators[0]!.id, amount: 900 },
      { creator: 'Bea & Co', amount: 150.5 },
    ],
  })
  for (const [name, options] of [
    ['light', { viewport: { width: 1280, height: 900 } }],
    ['dark', { viewport: { width: 1280, height: 900 }, colorScheme: 'dark' }],
    ['phone', { viewport: { width: 390, height: 844 } }],
    ['german', { viewport: { width: 1280, height: 900 }, locale: 'de-DE' }],
  ] as const) {
    const page = await openPage(options)
    const paths = {
      creators: '/creators',
      creator: `/creators/${creators[0]!.id}`,
      tab: '/campaigns/spring?tab=creators',
      videos: '/campaigns/spring',
    }
    for (const [screen, path] of Object.entries(paths)) {
      await page.goto(url + path)
      await page.locator('table').first().waitFor()
      await page.waitForLoadState('networkidle').catch(() => {})
      await page.screenshot({ path: `${SCREENSHOTS}/${screen}-${name}.png`, fullPage: true })
      expect(await page.evaluate('document.documentElement.scrollWidth <= innerWidth')).toBe(true)
    }
    await page.goto(`${url}/campaigns/spring?tab=creators`)
    await page.locator('.panel-head button').last().click()
    await page.locator('dialog input').first().waitFor()
    await page.screenshot({ path: `${SCREENSHOTS}/fees-${name}.png` })
  }
})
