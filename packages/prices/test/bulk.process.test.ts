import { createTemporaryFolder } from '@influencer-stats/runtime/testing/temporary-folder'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { createPrice, startPrices, toSearch, type TestPrices } from './support/prices.ts'

const BULK_PATH = '/v5/search/bitmap/bulk/prices'
const price = createPrice({ charValues: [{ char: 'term', value: '12' }] })
const search = toSearch(price)

let prices: TestPrices
beforeAll(async () => {
  prices = await startPrices({ data: createTemporaryFolder() })
  await prices.import([price])
})
afterAll(() => prices.stop())

it("answers the original's bodies: numeric ids, arrays, and an id in a single search", async () => {
  const texts = [1, 9_007_199_254_740_991, 'x'].map((id) => JSON.stringify({ id, ...search }))
  texts.push(texts[1]!.replace('740991', '740993'))
  for (const body of [texts.join('\n'), `[${texts.join(',\n')}]`]) {
    const reply = await prices.request('POST', BULK_PATH, body)
    const ids = String(reply.body).match(/(?<="error":\{\},"id":).*(?=\}\n)/g)
    expect(ids).toEqual(['1', '9007199254740991', '"x"', '9007199254740993'])
  }
  for (const id of [1, 1.5, 'x']) expect((await prices.search({ id, ...search })).body.id).toBe(price.id)
  for (const id of [null, true, 'x'.repeat(257)])
    expect(await prices.search({ id, ...search })).toMatchObject({ status: 400, body: { code: 'VALIDATION_FAILED' } })
})
