import { createTemporaryFolder } from '@influencer-stats/runtime/testing/temporary-folder'
import { expect, it, onTestFinished } from 'vitest'
import { createPricesClient } from '../src/client.ts'
import { createPrice, toSearch, startPrices } from './support/prices.ts'

it('covers the whole API of the service', async () => {
  const prices = await startPrices({ data: createTemporaryFolder(), apiToken: 'secret', readToken: 'look' })
  onTestFinished(async () => void (await prices.stop()))
  // The service has a path prefix, as with a proxy: only the end of the URL is known.
  const client = createPricesClient(`${prices.url}/`, { token: 'secret' })
  const some = Array.from({ length: 3 }, (_, i) =>
    createPrice({ value: i, charValues: [{ char: 'term', value: String(i) }], currency: 'EUR' }),
  )
  const lines = some.map((price) => `${JSON.stringify(price)}\n`).join('')
  expect(await client.import(lines)).toEqual({ imported: 3, prices: 3 })
  expect(await client.get(some[1]!.id)).toEqual(some[1])
  expect(await client.search(toSearch(some[2]!))).toMatchObject({ id: some[2]!.id, value: 2 })
  expect(
    await client.search({ ...toSearch(some[2]!), charValues: [1, 2].flatMap((i) => toSearch(some[i]!).charValues) }),
  ).toBe(undefined)
  const facets = await client.getFacets({
    charValues: [{ char: 'term', op: 'not', value: '1' }],
    char: 'term',
    limit: 2,
  })
  expect(facets).toEqual({
    count: 2,
    characteristics: {
      values: [
        {
          char: 'term',
          type: 'string',
          min: '0',
          max: '2',
          values: [
            { value: '0', count: 1 },
            { value: '1', count: 1 },
          ],
          next: '1',
        },
      ],
    },
  })
  const all = await Array.fromAsync(client.searchAll({ ...toSearch(some[0]!), charValues: [] }))
  expect(all.map(({ value }) => value)).toEqual([0, 1, 2])
  const read = createPricesClient(prices.url, { token: 'look' })
  const exported = Buffer.concat(await Array.fromAsync(read.export()))
  expect(exported.toString()).toBe(lines)
  await expect(read.import(lines)).rejects.toMatchObject({ status: 401, code: 'UNAUTHORIZED' })
  await client.put({ ...some[0]!, value: 9 })
  expect(await client.delete(some[0]!.id)).toBe(true)
  expect(await client.delete(some[0]!.id)).toBe(false)
  const dear = { currency: 'EUR', minValue: 2 }
  expect(await client.deleteWhere(dear)).toEqual({ matched: 1, deleted: 0 })
  await expect(client.deleteWhere(dear, { expected: 2 })).rejects.toMatchObject({ code: 'MATCH_COUNT' })
  expect(await client.deleteWhere(dear, { dryRun: false, expected: 1 })).toEqual({ matched: 1, deleted: 1 })
  expect(await client.get(some[2]!.id)).toBe(undefined)
  async function* splitLines() {
    yield Buffer.from(lines.slice(0, 10))
    yield Buffer.from(lines.slice(10))
  }
  expect(await client.import(splitLines(), { replace: true })).toEqual({ imported: 3, prices: 3 })
  const ambiguous = client.search({ ...toSearch(some[0]!), charValues: [] })
  await expect(ambiguous).rejects.toMatchObject({ status: 409, code: 'PRICES_AMBIGUOUS', body: { candidates: some } })
})
