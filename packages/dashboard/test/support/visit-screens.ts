import type { Page } from 'playwright-core'
import type { PluralText } from '../../src/page/texts/text-types.ts'
import type { TextKey } from '../../src/page/texts/texts.ts'
import type { TestStack } from './test-stack.ts'

/** The texts of one language. */
export type Catalog = Readonly<Record<TextKey, string | PluralText>>

export const VIDEO = '1FEFpk-uIYo'
const TIKTOK = 'https://www.tiktok.com/@a/video/7234567890123456789'
/** A channel of the stand-in. */
const SOURCE = 'UC0007000700070007000700'
const CAMPAIGN = { videos: [VIDEO, 'abcdefghijk'], from: '2026-03-01', to: '2026-05-31', cost: 100, currency: 'EUR' }

export interface Visit {
  readonly stack: TestStack
  readonly page: Page
  /** The texts that the page shows. */
  readonly catalog: Catalog
  /** Called for each state of each screen. @param name of the state */
  check(name: string): Promise<void>
}

/** Opens all screens and dialogs. Names of campaigns and tags are numbers, so that they belong to no language. */
export async function visitScreens({ stack: { url, stats }, page, catalog, check }: Visit): Promise<void> {
  const words = (key: TextKey) => catalog[key] as string
  const press = (key: TextKey) =>
    page
      .getByRole('button', { name: words(key), exact: true })
      .first()
      .click()
  const waitFor = (key: TextKey) => page.getByText(words(key), { exact: true }).first().waitFor()
  const open = async (path: string, key: TextKey) => {
    await page.goto(url + path)
    await waitFor(key)
  }

  await open('/', 'list.first')
  await check('first campaign')
  for (const [id, name] of [
    ['a', '1'],
    ['b', '2'],
  ] as const)
    await stats.put(id, { ...CAMPAIGN, name, tags: ['3'] })
  await open('/', 'list.new')
  await page.getByRole('link', { name: '2', exact: true }).waitFor()
  await page.locator('.campaigns .moving').nth(1).waitFor()
  for (const box of await page.getByRole('checkbox').all()) await box.check()
  await check('campaigns')
  await press('list.new')
  await page.locator('dialog [name=links]').fill(`${VIDEO}\nhttps://vimeo.com/1`)
  await page.locator('.preview .is-refused').waitFor()
  await check('new campaign')
  await page.keyboard.press('Escape')
  await waitFor('dialog.question')
  await check('unsaved changes')
  await press('dialog.discard')
  await open('/?tag=3', 'list.showAll')
  await check('tag')
  await press('views.save')
  await page.locator('dialog [name=name]').fill('4')
  await check('save view')
  await press('form.save')
  await page.getByRole('link', { name: '4', exact: true }).waitFor()
  await check('saved view')
  await open('/?q=none', 'list.noMatch')
  await check('no match')

  await open('/campaigns/a?mode=hourly', 'campaign.share')
  await page.locator('.videos .name').first().waitFor()
  await check('campaign')
  await page.goto(`${url}/campaigns/a?tab=sources`)
  await page.locator('[name=source]').fill(SOURCE)
  await press('preview.follow')
  await page.locator('.sources tbody tr').waitFor()
  await check('sources')
  await page.locator('.sources .link').click()
  await waitFor('sources.editTitle')
  await check('source')
  await page.keyboard.press('Escape')
  await press('campaign.share')
  await press('share.create')
  const link = await page.locator('input.address').inputValue()
  await check('share')
  await open('/campaigns/a', 'campaign.edit')
  await press('campaign.edit')
  await page.locator('[name=cost]').fill('1.2.3')
  await page.locator('#cost-preview.fault').waitFor()
  await check('edit')
  await open('/campaigns/none', 'campaign.none')
  await check('no campaign')

  await open('/compare', 'compare.choose')
  await check('comparison of none')
  await open('/compare?c=a&c=b', 'compare.byDate')
  await check('comparison')
  await open('/compare?c=a&c=b&align=start', 'compare.startNote')
  await check('comparison from the start')
  await open('/client-links', 'links.title')
  await page.locator('input.address').waitFor()
  await check('links')
  await open('/health', 'health.source')
  await page.locator('.service .dot.live').nth(1).waitFor()
  await check('health')
  await open('/nope', 'notFound.title')
  await check('not found')

  await open('/campaigns/a?tab=posts', 'posts.none')
  await page.locator('.addition textarea').fill(TIKTOK)
  await page.locator('.preview .is-new').waitFor()
  await page.locator('.addition > button').click()
  await page.locator('.posts button').first().click()
  await page.locator('dialog [name=views]').fill('12')
  await press('posts.save')
  await page.locator('.report-list li').waitFor()
  await check('numbers of a post')
  await page.keyboard.press('Escape')
  await page.locator('.plot canvas').last().waitFor()
  await check('posts')
  await press('posts.import')
  await page.locator('dialog [name=numbers]').fill(`url,views\n${TIKTOK},13\nhttps://x.com/a/status/12345,1`)
  await page.locator('.preview .is-refused').waitFor()
  await check('numbers to import')

  await page.goto(link)
  await page.locator('.videos .name').first().waitFor()
  await check('page for clients')
  await press('posts.title')
  await page.locator('.posts .name').waitFor()
  await check('posts for clients')
  await stats.delete('a')
  await waitFor('error.LINK_EXPIRED')
  await check('expired link')

  await open('/campaigns/b', 'campaign.edit')
  await press('campaign.edit')
  await check('edit and delete')
  await page.locator('dialog button.danger').click()
  await waitFor('undo.undo')
  await check('undo')
}
