import { createTemporaryFolder } from '@influencer-stats/runtime/testing/temporary-folder'
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest'
import { createPricesClient } from '../src/client.ts'
import { INDEXES } from './support/available-indexes.ts'
import { createPrice, toSearch, startPrices, toUuid, type TestPrices } from './support/prices.ts'

const allPrices = Array.from({ length: 3_000 }, (_, i) =>
  createPrice({ id: toUuid((i * 7_919) % 100_003), charValues: [{ char: 'term', value: String(i % 3) }], value: i }),
)
const search = toSearch({ ...allPrices[0]!, charValues: [{ char: 'term', value: '1' }] })
const expected = allPrices
  .filter((_, i) => i % 3 === 1)
  .map(({ id, value, priceSpecId: spec }) => ({ id, spec, value, currency: 'USD' }))
  .sort((a, b) => (a.id < b.id ? -1 : 1))

describe.each(INDEXES)('all matching prices, by index %s', (index) => {
  let prices: TestPrices
  beforeAll(async () => {
    const catalog = index === 'roaring' ? 'lru-level' : 'memory'
    prices = await startPrices({ data: createTemporaryFolder(), indexes: index, catalog })
    await prices.import(allPrices)
  })
  afterAll(() => prices.stop())
  const all = (body: unknown, query = '') => prices.request('POST', `/v1/search/${index}/prices?all=true${query}`, body)
  const parseLines = (text: string) =>
    text
      .split('\n')
      .filter(Boolean)
      .map((line) => JSON.parse(line))

  it('are one per line, in the order of ids', async () => {
    const { status, headers, body } = await all(search)
    expect([status, headers.get('content-type')]).toEqual([200, 'application/x-ndjson'])
    expect(parseLines(body)).toEqual(expected)
    expect(parseLines((await all({ ...search, charValues: [{ char: 'term', op: 'in', value: ['1'] }] })).body)).toEqual(
      expected,
    )
  })

  it('resume after any of them, with any limit', async () => {
    const read = []
    for (let after: string | undefined = toUuid(0); after;) {
      const page = parseLines((await all(search, `&limit=333&after=${after.toUpperCase()}`)).body)
      read.push(...page)
      after = page.at(-1)?.id
    }
    expect(read).toEqual(expected.filter(({ id }) => id > toUuid(0)))
    const client = createPricesClient(prices.url)
    const some = []
    for await (const price of client.searchAll(search, { index, limit: 5 })) some.push(price)
    expect(some).toEqual(expected.slice(0, 5))
  })

  it('are sorted by value, and resume after any of them', async () => {
    for (const sort of ['value', '-value']) {
      const sorted = expected.toSorted((a, b) =>
        sort === 'value' ? Number(a.value) - Number(b.value) : Number(b.value) - Number(a.value),
      )
      const read: any[] = []
      for (let next = ''; next !== 'end';) {
        const page = parseLines((await all(search, `&sort=${sort}&limit=333${next}`)).body)
        read.push(...page)
        const last = page.at(-1)
        next = last ? `&after=${last.id}&afterValue=${last.value}` : 'end'
      }
      expect(read).toEqual(sorted)
    }
    const client = createPricesClient(prices.url)
    const bounds = { ...search, minValue: '10.5', maxValue: 20 }
    const some = await Array.fromAsync(client.searchAll(bounds, { index, sort: '-value', limit: 2 }))
    expect(some.map(({ value }) => value)).toEqual([19, 16])
  })

  it('match any subset of the conditions', async () => {
    expect(parseLines((await all({ charValues: search.charValues })).body)).toEqual(expected)
    for (const conditions of [{}, { groupId: 'g1' }, { offeringId: 'o1' }, { priceSpecId: 'MRC', groupId: 'g1' }])
      expect(parseLines((await all(conditions)).body)).toHaveLength(allPrices.length)
    expect(parseLines((await all({}, '&limit=2')).body)).toHaveLength(2)
    const other = createPrice({ offeringId: 'o2', groupId: 'g2', id: toUuid(999_999) })
    await prices.request('PUT', `/prices/${other.id}`, other)
    expect(parseLines((await all({ groupId: 'g2' })).body)).toMatchObject([{ id: other.id }])
    expect(parseLines((await all({})).body).at(-1)).toMatchObject({ id: other.id })
    await prices.request('DELETE', `/prices/${other.id}`)
    expect(await all({ groupId: 'g2' })).toMatchObject({ status: 404, body: { code: 'GROUP_NOT_FOUND' } })
  })

  it('are empty if no price matches, and a change counts immediately', async () => {
    const last = createPrice({
      id: 'ffffffff-ffff-4fff-8fff-ffffffffffff',
      groupId: 'own',
      charValues: [],
      from: '2026-01-01',
    })
    await prices.request('PUT', `/prices/${last.id}`, last)
    expect(parseLines((await all({ ...toSearch(last), at: '2026-01-01' })).body)).toMatchObject([{ id: last.id }])
    expect(await all({ ...toSearch(last), at: '2025-12-31' })).toMatchObject({ status: 200, body: '' })
    expect((await all(search, `&after=${last.id}`)).body).toBe('')
  })

  it.each([
    ['', { ...search, groupId: 'none' }, 404, 'GROUP_NOT_FOUND'],
    ['', { ...search, charValues: [{ char: 'none', value: '1' }] }, 404, 'CHARACTERISTIC_NOT_FOUND'],
    ['', { ...search, at: '2026-02-30' }, 400, 'VALIDATION_FAILED'],
    ['', '{', 400, 'BAD_JSON'],
    ['', undefined, 400, 'BAD_JSON'],
    ['&limit=0', search, 400, 'VALIDATION_FAILED'],
    ['&sort=value&after=a', search, 409, 'INCOMPATIBLE_PARAMETERS'],
    ['&after=a&afterValue=1', search, 409, 'INCOMPATIBLE_PARAMETERS'],
    ['&sort=value&afterValue=1', search, 409, 'INCOMPATIBLE_PARAMETERS'],
    ['&sort=value&after=a&afterValue=much', search, 400, 'VALIDATION_FAILED'],
    ['&sort=id', search, 400, 'VALIDATION_FAILED'],
    ['&after=', search, 400, 'VALIDATION_FAILED'],
    ['&first=1', search, 400, 'VALIDATION_FAILED'],
    ['', { ...search, explain: true }, 409, 'INCOMPATIBLE_PARAMETERS'],
  ])('refuses an invalid request: %s %j', async (query, body, status, code) => {
    expect(await all(body, query)).toMatchObject({ status, body: { code } })
  })

  it('an ambiguous search lists the first matching prices', async () => {
    const { status, body } = await prices.search(search, index)
    expect([status, body.code, body.detail]).toEqual([409, 'PRICES_AMBIGUOUS', '1000 prices match'])
    const first = allPrices
      .filter((_, i) => i % 3 === 1)
      .sort((a, b) => (a.id < b.id ? -1 : 1))
      .slice(0, 10)
    expect(body.candidates).toEqual(first.map((one) => ({ ...one, currency: 'USD' })))
    expect(body.differences).toEqual(['value'])
  })
})

it('limit and after require all=true', async () => {
  const prices = await startPrices({ data: createTemporaryFolder() })
  onTestFinished(async () => void (await prices.stop()))
  await prices.import(allPrices.slice(0, 3))
  const refusals = [
    ...['limit=1', `after=${toUuid(1)}`, `all=false&limit=1`].map(
      (query) => [query, 409, 'INCOMPATIBLE_PARAMETERS'] as const,
    ),
    ...['all=yes', 'every=true'].map((query) => [query, 400, 'VALIDATION_FAILED'] as const),
  ]
  for (const [query, status, code] of refusals)
    expect(await prices.request('POST', `/v1/search/bitmap/prices?${query}`, search)).toMatchObject({
      status,
      body: { code },
    })
  expect((await prices.request('POST', '/v1/search/bitmap/prices?all=false', search)).body.id).toBe(allPrices[1]!.id)
})
