import { expect, it } from 'vitest'
import { ok, openWithReplies, refusal, type PageReply } from './support/page-requests.ts'

const UNAVAILABLE = refusal(503, 'SERVICE_UNREACHABLE')
const UNAVAILABLE_TEXT = 'The service does not answer. Try again in a moment.'
const TIMEOUT_TEXT = 'The dashboard does not answer. Try again in a moment.'
const ENDED = refusal(410, 'LINK_EXPIRED')
const ENDED_TEXT = 'This link is no longer valid.'

const SUMS_TIME = '2026-03-01T12:00:00.000Z'
const SUMS = { impressions: 1_234, engagements: 10, score: 10, videos: 1, missing: [], stale: false, asOf: SUMS_TIME }
const GROWTH = { impressions: 5, engagements: 1, score: 1, since: SUMS_TIME, until: SUMS_TIME }
const VIDEO = '1FEFpk-uIYo'
const createRow = (name: string) => ({
  id: name.toLowerCase(),
  name,
  version: '1',
  created: SUMS_TIME,
  videos: [VIDEO],
  stats: SUMS,
  change: { '24h': GROWTH, '7d': GROWTH, '30d': GROWTH },
})
const ROW = createRow('Spring')
const LINK = {
  id: 'l',
  campaign: 'spring',
  name: 'Spring',
  state: 'valid',
  path: '/shared/l',
  created: SUMS_TIME,
  expires: SUMS_TIME,
}
const FACETS = { values: [] }
const VIDEOS = ok({ videos: [{ id: VIDEO, title: 'First', url: `https://www.youtube.com/watch?v=${VIDEO}` }] })
const POINTS = ok({
  points: [0, 1, 2].map((i) => ({
    ...SUMS,
    at: new Date(Date.now() - 3_600_000 * (3 - i)).toISOString(),
    impressions: 1_000 + i,
  })),
})

const CAMPAIGN_REPLIES = { '/campaign': ok(ROW), '/videos': VIDEOS, '/history': POINTS }
const OWN_REPLIES = {
  '/collections/spring': ok(ROW),
  '/collections/spring/videos': VIDEOS,
  '/collections/spring/stats/history': POINTS,
  '/collections': ok({ collections: [ROW, createRow('Autumn')], total: 2 }),
  '/links': ok({ links: [LINK] }),
}

/** Each screen with the path of a read, and the selector of what its reply shows. */
const READS: readonly (readonly [
  title: string,
  path: string,
  read: string,
  replies: Record<string, PageReply>,
  selector: string,
])[] = [
  ['campaign of a link', '/shared/l', '/campaign', CAMPAIGN_REPLIES, 'h1:has-text("Spring")'],
  ['campaign', '/campaigns/spring', '/collections/spring', OWN_REPLIES, 'h1:has-text("Spring")'],
  ['videos', '/campaigns/spring', '/collections/spring/videos', OWN_REPLIES, 'table.videos a:has-text("First")'],
  ['chart', '/campaigns/spring', '/collections/spring/stats/history', OWN_REPLIES, '.uplot'],
  ['list', '/', '/collections', OWN_REPLIES, 'a:has-text("Spring")'],
  ['links', '/client-links', '/links', OWN_REPLIES, '[aria-label="Link to Spring"]'],
  ['comparison', '/compare?c=spring', '/collections/spring', OWN_REPLIES, '.chip:has-text("Spring")'],
  [
    'prices',
    '/prices',
    '/facets',
    { '/facets': ok({ count: 7, offerings: FACETS, groups: FACETS, specs: FACETS, characteristics: { values: [] } }) },
    'text=7 prices match',
  ],
]

it.each(READS)(
  'a read of the %s without a reply, or that fails, shows a reason until one succeeds',
  async (_title, path, read, replies, selector) => {
    const { page, replies: current, hold, release, open } = await openWithReplies(path, replies, true)
    const next = hold(read)
    await open()
    await next()
    await page.getByText(TIMEOUT_TEXT).first().waitFor()
    current[read] = UNAVAILABLE
    await release(read)
    await page.getByText(UNAVAILABLE_TEXT).first().waitFor()
    current[read] = replies[read]!
    await page.locator(selector).first().waitFor()
    expect(await page.getByText(/does not answer/).count()).toBe(0)
  },
)

it('a reload during a failing read hides no reason', async () => {
  const { page, hold, reload, open } = await openWithReplies('/shared/l', CAMPAIGN_REPLIES)
  const next = hold('/campaign')
  await open()
  const first = await next()
  await reload()
  await first.reply(UNAVAILABLE)
  const second = await next()
  await page.getByText(UNAVAILABLE_TEXT).waitFor()
  await reload()
  await second.reply(UNAVAILABLE)
  const third = await next()
  expect(await page.getByText(UNAVAILABLE_TEXT).count()).toBe(1)
  await third.reply(ok(ROW))
  await page.getByRole('heading', { name: 'Spring' }).waitFor()
  expect(await page.getByText(UNAVAILABLE_TEXT).count()).toBe(0)
})

it('a failed read of a campaign that is shown states a reason beside its numbers', async () => {
  const { page, hold, reload, open } = await openWithReplies('/shared/l', CAMPAIGN_REPLIES)
  await open()
  await page.getByRole('heading', { name: 'Spring' }).waitFor()
  const next = hold('/campaign')
  await reload()
  await (await next()).reply(UNAVAILABLE)
  await page.getByText(UNAVAILABLE_TEXT).waitFor()
  await page.getByRole('heading', { name: 'Spring' }).waitFor()
  await reload()
  await (await next()).reply(ok({ ...ROW, name: 'Renamed' }))
  await page.getByRole('heading', { name: 'Renamed' }).waitFor()
  expect(await page.getByText(UNAVAILABLE_TEXT).count()).toBe(0)
})

it('a link that ends during a read shows its reason and no numbers, even if later reads fail', async () => {
  const { page, hold, reload, endStream, open } = await openWithReplies('/shared/l', CAMPAIGN_REPLIES)
  await open()
  await page.getByRole('heading', { name: 'Spring' }).waitFor()
  const next = hold('/campaign')
  await reload()
  const begun = await next()
  await endStream()
  await begun.reply(ok(ROW))
  await (await next()).reply(ENDED)
  const isEnded = async () => {
    await page.getByText(ENDED_TEXT).waitFor()
    expect(await page.locator('.card, table.videos').count()).toBe(0)
  }
  await isEnded()
  for (const reply of [UNAVAILABLE, 'failure'] as const) {
    await reload()
    await (await next()).reply(reply)
    // The next read begins only after the page has the reply.
    await reload()
    const following = await next()
    await isEnded()
    await following.reply(ENDED)
  }
})

it('a link that ends during a read without a reply shows its reason in time', async () => {
  const { page, hold, reload, endStream, open } = await openWithReplies('/shared/l', CAMPAIGN_REPLIES, true)
  await open()
  await page.getByRole('heading', { name: 'Spring' }).waitFor()
  const next = hold('/campaign')
  await reload()
  await next()
  await endStream()
  await (await next()).reply(ENDED)
  await page.getByText(ENDED_TEXT).waitFor()
})

it('another range shows no history of the range before, and a reply of that range is ignored', async () => {
  const { page, hold, open } = await openWithReplies('/shared/l?range=24h', CAMPAIGN_REPLIES)
  await open()
  const chart = page.getByRole('region', { name: 'Growth' }).locator('.uplot')
  await chart.waitFor()
  const next = hold('/history')
  await page.getByRole('button', { name: '7 days' }).click()
  const week = await next()
  await chart.waitFor({ state: 'detached' })
  await page.getByRole('button', { name: '30 days' }).click()
  const month = await next()
  await week.reply(POINTS)
  expect(await chart.count()).toBe(0)
  await month.reply(POINTS)
  await chart.waitFor()
})

it('another search for a price shows no price of the search before', async () => {
  const facet = (values: readonly string[]) => ({ values: values.map((value) => ({ value, count: 3 })) })
  const facets = {
    count: 3,
    offerings: facet(['a', 'b']),
    groups: facet(['g']),
    specs: facet(['s']),
    characteristics: { values: [] },
  }
  const explain = ['offeringId', 'groupId', 'priceSpecId'].map((condition) => ({ condition, left: 1 }))
  const toPrice = (id: string) => ({ id, offeringId: id, groupId: 'g', priceSpecId: 's', charValues: [], value: 42 })
  const { page, hold, open } = await openWithReplies('/prices?offering=a&group=g&spec=s', {
    '/facets': ok(facets),
    '/v1/search/bitmap/prices': ok({ id: 'of-a', explain }),
    '/prices/of-a': ok(toPrice('of-a')),
    '/prices/of-b': ok(toPrice('of-b')),
  })
  await open()
  await page.locator('.id', { hasText: 'of-a' }).waitFor()
  await page.getByRole('combobox', { name: 'Offering' }).click()
  const option = page.getByRole('option', { name: 'b 3' })
  await option.waitFor()
  const [nextPrice, nextFacets] = [hold('/v1/search/bitmap/prices'), hold('/facets')]
  await option.click()
  const counts = await nextFacets()
  await page.locator('.id').waitFor({ state: 'detached' })
  expect(await page.getByText('3 prices match').count()).toBe(0)
  await counts.reply(ok({ ...facets, count: 1 }))
  await page.getByText('1 price matches').waitFor()
  const price = await nextPrice()
  expect(await page.locator('.price').count()).toBe(0)
  await price.reply(ok({ id: 'of-b', explain }))
  await page.locator('.id', { hasText: 'of-b' }).waitFor()
})

it('a comparison names its measure, states that a campaign no longer exists, and fits a phone with long names', async () => {
  const name = 'The campaign of autumn and winter with all creators of the north'
  const { page, open } = await openWithReplies('/compare?c=spring&c=gone', {
    '/collections/gone': refusal(404, 'COLLECTION_NOT_FOUND'),
    '/collections/gone/stats/history': refusal(404, 'COLLECTION_NOT_FOUND'),
    ...OWN_REPLIES,
    '/collections': ok({ collections: [ROW, createRow(name)], total: 2 }),
  })
  await page.setViewportSize({ width: 390, height: 800 })
  await open()
  await page.getByText('One of these campaigns no longer exists.').waitFor()
  await page.getByText('Views, and their growth in 7 days').waitFor()
  await page.getByLabel('Add a campaign').waitFor()
  expect(await page.evaluate('document.documentElement.scrollWidth')).toBe(390)
})

it('a comparison shows no campaign that was left out', async () => {
  const { page, hold, open } = await openWithReplies('/compare?c=spring&c=autumn', {
    ...OWN_REPLIES,
    '/collections/autumn': ok(createRow('Autumn')),
    '/collections/autumn/stats/history': POINTS,
  })
  await open()
  await page.locator('.chip', { hasText: 'Autumn' }).waitFor()
  hold('/collections/spring')
  await page.getByRole('button', { name: 'Remove Autumn from the comparison' }).click()
  await page.locator('.chip', { hasText: 'Autumn' }).waitFor({ state: 'detached' })
})
