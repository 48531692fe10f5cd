import { waitUntil } from '@influencer-stats/runtime/testing/wait-until'
import { expect, it } from 'vitest'
import { openPage } from './support/browser.ts'
import { checkScreen } from './support/check-screen.ts'
import { sendRequest, startStack } from './support/test-stack.ts'

const VIDEO = 'a00-xYz_Q7w'
const TIKTOK = 'https://www.tiktok.com/@anna/video/7234567890123456789'
const REEL = 'https://www.instagram.com/reel/C1a2b3c4d5e/'
const TIKTOK_ID = 'tiktok-7234567890123456789'

it('posts are added by links, numbers are reported, imported and deleted, and stay apart from live ones', async () => {
  const stack = await startStack()
  const { stats } = stack
  await stats.put('a', { name: 'Spring', videos: [VIDEO], cost: 100, currency: 'EUR' })
  const page = await openPage()
  await page.goto(`${stack.url}/campaigns/a`)
  await page.getByRole('button', { name: 'Posts' }).click()
  await page.getByText('No posts yet.').waitFor()
  await page.getByLabel('Links of posts to add').fill(`${TIKTOK}?is_from_webapp=1\n${REEL}\nhttps://vimeo.com/1`)
  await page.getByRole('button', { name: 'Add 2', exact: true }).click()
  await page.getByRole('button', { name: 'Numbers of @' }).waitFor()
  expect((await stats.listPosts('a'))!.map(({ id, creator }) => [id, creator])).toEqual([
    ['instagram-C1a2b3c4d5e', undefined],
    [TIKTOK_ID, '@anna'],
  ])
  // A post that the campaign contains already is not added again.
  await page.getByLabel('Links of posts to add').fill(TIKTOK)
  await page.getByText('Already in the campaign').waitFor()
  await page.getByLabel('Links of posts to add').fill('')

  await page.getByRole('button', { name: 'Numbers of @' }).click()
  const dialog = page.locator('dialog')
  await dialog.getByLabel('Views').fill('12,5')
  await dialog.getByRole('button', { name: 'Save numbers' }).click()
  await dialog.getByText('Views: write a whole number, such as 12,500.').waitFor()
  await dialog.getByLabel('Views').fill('12,500')
  await dialog.getByLabel('Likes').fill('830')
  await dialog.getByLabel('Note').fill('from the creator')
  await dialog.getByLabel('Time').fill('2026-11-20T12:00')
  await dialog.getByRole('button', { name: 'Save numbers' }).click()
  await dialog.getByText('Views 12,500').waitFor()
  await dialog.getByLabel('Views').fill('13000')
  await dialog.getByRole('button', { name: 'Save numbers' }).click()
  await dialog.getByText('Views 13,000').waitFor()
  const before = await stats.listNumbers('a', TIKTOK_ID)
  expect(before).toMatchObject([{ views: 12_500, likes: 830, note: 'from the creator' }, { views: 13_000 }])
  await dialog
    .getByRole('button', { name: /Delete the numbers/ })
    .last()
    .click()
  await waitUntil(async () => (await stats.listNumbers('a', TIKTOK_ID))!.length === 1)
  await checkScreen(page, 'numbers')
  await dialog.getByRole('button', { name: 'Undo' }).click()
  await waitUntil(async () => (await stats.listNumbers('a', TIKTOK_ID))!.length === 2)
  expect(await stats.listNumbers('a', TIKTOK_ID)).toEqual(before)
  await page.keyboard.press('Escape')
  await dialog.waitFor({ state: 'detached' })

  await page.getByRole('button', { name: 'Import numbers' }).click()
  await dialog
    .getByLabel('Paste a sheet')
    .fill(`url\tviews\tsaves\tat\n${REEL}\t7000\t12\t2026-11-21\nhttps://x.com/a/status/12345\t1\t\t2026-11-21`)
  await dialog.getByText('The campaign has no such post: add it first').waitFor()
  await checkScreen(page, 'import-numbers')
  await dialog.getByRole('button', { name: 'Store 1 row' }).click()
  await dialog.waitFor({ state: 'detached' })

  // 20,000 reported views, and at least those of the video.
  const card = (title: string) => page.locator('.card', { hasText: title }).locator('strong')
  await waitUntil(async () => (await card('Reported views').textContent()) === '20,000')
  await expect.poll(() => card('Reported engagements').textContent()).toBe('830')
  await page.getByText('of €100.00, over live and reported numbers').first().waitFor()
  const row = (await stats.get('a', ['stats']))!
  expect(row.costs!.perThousandViews).toBeCloseTo((100 / (row.stats!.impressions + 20_000)) * 1_000, 6)
  await page.locator('.plot canvas').nth(1).waitFor()
  await page.locator('.posts').scrollIntoViewIfNeeded()
  await checkScreen(page, 'posts')

  await page.getByRole('button', { name: 'Remove reel/C1a2b3c4d5e' }).click()
  await page.getByText('reel/C1a2b3c4d5e will be removed. It counts until then.').waitFor()
  await page.getByRole('button', { name: 'Remove now' }).click()
  await waitUntil(async () => (await card('Reported views').textContent()) === '13,000')
  expect((await stats.listPosts('a'))!.map(({ id }) => id)).toEqual([TIKTOK_ID])
})

it('a client sees the posts of a link without notes, and nothing to change', async () => {
  const stack = await startStack()
  const { stats } = stack
  await stats.put('a', { name: 'Spring', videos: [VIDEO], cost: 100 })
  await stats.put('b', { videos: [VIDEO] })
  const link = async (campaign: string) =>
    (await sendRequest(`${stack.url}/links`, 'POST', { body: { campaign } })).body.path as string
  const [a, b] = [await link('a'), await link('b')]
  await stats.addPost('a', { url: TIKTOK, title: 'Unboxing' })
  await stats.reportNumbers('a', TIKTOK_ID, { views: 700, at: '2026-11-20T12:00:00Z', note: 'secret' })
  await stats.reportNumbers('a', TIKTOK_ID, { views: 900, at: '2026-11-21T12:00:00Z', note: 'secret' })
  const read = async (path: string) => sendRequest(stack.url + path)
  expect((await read(`${a}/posts`)).body.posts).toMatchObject([{ title: 'Unboxing', numbers: { views: 900 } }])
  expect((await read(`${a}/reported`)).body.points).toMatchObject([{ impressions: 700 }, { impressions: 900 }])
  for (const path of ['posts', 'reported', 'campaign', 'stats'])
    expect((await read(`${a}/${path}`)).text).not.toContain('secret')
  for (const path of [`posts/${TIKTOK_ID}/numbers`, 'reported/numbers'])
    expect((await read(`${a}/${path}`)).status).toBe(404)

  const page = await openPage()
  await page.goto(stack.url + a)
  await page.getByRole('button', { name: 'Posts' }).click()
  await page.getByRole('link', { name: 'Unboxing' }).waitFor()
  await page.locator('.plot canvas').first().waitFor()
  await expect
    .poll(() => page.locator('.card', { hasText: 'Reported views' }).locator('strong').textContent())
    .toBe('900')
  expect(await page.getByText(/secret|of 100/).count()).toBe(0)
  expect(await page.getByRole('button', { name: /Numbers|Add|Remove|Import/ }).count()).toBe(0)
  await checkScreen(page, 'posts-of-a-link')
  // A campaign without posts has no tab for them.
  await page.goto(stack.url + b)
  await page.locator('.videos .name').first().waitFor()
  expect(await page.getByRole('button', { name: 'Posts' }).count()).toBe(0)
  await stats.delete('a')
  expect((await read(`${a}/posts`)).status).toBe(410)
  expect((await read(`${a}/reported`)).status).toBe(410)
})
