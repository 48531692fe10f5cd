import { waitUntil } from '@influencer-stats/runtime/testing/wait-until'
import { expect, it } from 'vitest'
import { openPage } from './support/browser.ts'
import { startStack } from './support/test-stack.ts'

const IDS = Array.from({ length: 56 }, (_, i) => `a${String(i).padStart(2, '0')}-xYz_Q7w`)
const SHEET = [
  'Influencers\tSponsorship\tBudget',
  ...IDS.map(
    (id, i) =>
      `Anna\t${i % 2 ? 'https://youtu.be/' : 'https://l.instagram.com/?u=https%3A%2F%2Fyoutu.be%2F'}${id}\t120`,
  ),
].join('\n')

it('a pasted sheet with headings that look like ids becomes its 56 videos, and the page names the rest', async () => {
  const stack = await startStack()
  const page = await openPage()
  await page.goto(stack.url)
  await page.getByLabel('YouTube links').fill(SHEET)
  await page.getByText('56 videos', { exact: true }).waitFor()
  await page
    .getByText(
      'Not videos: Influencers, Sponsorship, Budget, Anna, 120. If one of these is a video, paste its whole link.',
    )
    .waitFor()
  await page.getByRole('button', { name: 'Start campaign' }).click()
  await page.waitForURL(/\/campaigns\/\w+$/)
  const id = page.url().split('/').at(-1)!
  expect((await stack.stats.get(id))!.videos).toEqual(IDS)

  await page.getByLabel('Links of videos to add').fill('Sponsorship (//youtu.be/Sponsorship)')
  await page.getByText('Not videos: Sponsorship.').waitFor()
  await page.getByRole('button', { name: 'Add', exact: true }).click()
  await waitUntil(async () => (await stack.stats.get(id))!.videos.length === IDS.length + 1)
  expect((await stack.stats.get(id))!.videos).toEqual([...IDS, 'Sponsorship'])
  // Words that were not added remain in the field.
  await waitUntil(async () => (await page.getByLabel('Links of videos to add').inputValue()) === 'Sponsorship')
})
