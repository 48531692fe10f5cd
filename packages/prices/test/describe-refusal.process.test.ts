import { createTemporaryFolder } from '@influencer-stats/runtime/testing/temporary-folder'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { INDEXES } from './support/available-indexes.ts'
import { createPrice, startPrices, type TestPrices } from './support/prices.ts'

const toSpeed = (value: number) => ({ char: 'speed', value })
const toTerm = (value: string) => ({ char: 'term', value })

const catalog = [
  createPrice({ charValues: [toTerm('12'), toSpeed(10)], value: 1 }),
  createPrice({ charValues: [toTerm('12'), toSpeed(20)], value: 2.5 }),
  createPrice({ charValues: [toTerm('24'), toSpeed(10)], value: -3, currency: 'EUR' }),
  createPrice({ groupId: 'g3', charValues: [], value: 6, from: '2026-01-01', to: '2026-06-30' }),
  createPrice({ groupId: 'g3', charValues: [], value: 7, from: '2026-07-01' }),
]
const g1 = { offeringId: 'o1', groupId: 'g1', priceSpecId: 'MRC' }

describe.each(INDEXES)('a search without a result, by index %s', (index) => {
  let prices: TestPrices
  beforeAll(async () => {
    prices = await startPrices({ data: createTemporaryFolder(), indexes: index })
    await prices.import(catalog)
  })
  afterAll(() => prices.stop())
  const search = (body: object) => prices.search(body, index)

  it('names the condition that no price matches, and lists the prices that match all others', async () => {
    const query = { ...g1, charValues: [toTerm('12'), { char: 'speed', op: 'between', value: [500, 900] }] }
    const { status, body } = await search(query)
    expect([status, body.code, body.condition]).toEqual([404, 'PRICE_NOT_FOUND', 'speed between [500,900]'])
    const matching = await prices.request('POST', `/v1/search/${index}/prices?all=true`, {
      ...g1,
      charValues: [toTerm('12')],
    })
    const ids = matching.body
      .trim()
      .split('\n')
      .map((line: string) => JSON.parse(line).id)
    expect(ids.length).toBeGreaterThan(1)
    const whole = await Promise.all(ids.map(async (id: string) => (await prices.request('GET', `/prices/${id}`)).body))
    expect(body.candidates).toEqual(whole)
    const explained = await search({ ...query, explain: true })
    expect(explained.body).toEqual({
      error: { code: 'PRICE_NOT_FOUND' },
      explain: expect.any(Array),
      condition: body.condition,
      candidates: whole,
    })
    const unknown = await search({ ...g1, charValues: [toTerm('12'), toTerm('13')] })
    expect(unknown).toMatchObject({ status: 404, body: { code: 'VALUE_NOT_FOUND', condition: 'term equals "13"' } })
    expect(unknown.body.candidates).toEqual(whole)
  })

  it('lists several prices that match, with their differences', async () => {
    const g3 = { ...g1, groupId: 'g3', charValues: [] }
    const { status, body } = await search(g3)
    expect([status, body.code]).toEqual([409, 'PRICES_AMBIGUOUS'])
    expect(body.candidates.map(({ value }: any) => value)).toEqual([6, 7])
    expect(body.differences).toEqual(expect.arrayContaining(['value', 'from']))
    const explained = await search({ ...g3, explain: true })
    expect(explained.body).toMatchObject({
      error: { code: 'PRICES_AMBIGUOUS' },
      candidates: body.candidates,
      differences: body.differences,
    })
  })
})
