import { scaleRuns } from '@influencer-stats/runtime/testing/scale-runs'
import fc from 'fast-check'
import { expect, it } from 'vitest'
import type { Price } from '../src/core/price.ts'
import { SearchQuery } from '../src/core/search-query.ts'
import { computeFacets } from '../src/search/facets/compute-facets.ts'
import { findAllRows } from '../src/search/find-all.ts'
import { readSearch, readSearchAll } from '../src/search/read-search.ts'
import { explainSearch } from '../src/search/refusal/explain-search.ts'
import { resolveSearch } from '../src/search/row-tests.ts'
import { Searcher } from '../src/search/searcher.ts'
import { INDEXES } from './support/available-indexes.ts'
import { createTestView } from './support/catalog.ts'
import { createPrice, toSearch } from './support/prices.ts'

// Values as they are written in JSON; some differ only beyond the digits of a double, and some only in their zeros.
const VALUES = [
  '-2',
  '0',
  '1.1',
  '1.10',
  '1.2',
  '9007199254740992',
  '9007199254740993',
  '0.30000000000000001',
  '0.3',
  '1e3',
]
/** Returns a value multiplied by 10 ** 20. */
const toUnits = (text: string): bigint => {
  const [, digits, exponent = '0'] = /^([^e]+)(?:e(\d+))?$/.exec(text)!
  const [whole, fraction = ''] = digits!.split('.')
  return BigInt(whole + fraction.padEnd(20, '0')) * 10n ** BigInt(exponent)
}
const compareTexts = (a: string, b: string) => Number(toUnits(a) > toUnits(b)) - Number(toUnits(a) < toUnits(b))

const valueText = fc.constantFrom(...VALUES)
const currencyCode = fc.constantFrom('EUR', 'USD', 'CHF')
const fields = fc.record({ value: valueText, currency: currencyCode, group: fc.integer({ min: 1, max: 2 }) })
const bounds = fc.record(
  {
    currency: currencyCode,
    minValue: valueText,
    maxValue: valueText,
    isText: fc.boolean(),
  },
  { requiredKeys: ['isText'] },
)
type Bounds = typeof bounds extends fc.Arbitrary<infer T> ? T : never

/** Returns the members of a search as JSON: decimals as numbers or as texts. */
const toJson = ({ isText, currency, ...decimals }: Bounds): string =>
  [
    ...(currency === undefined ? [] : [`"currency":"${currency}"`]),
    ...Object.entries(decimals).map(([name, text]) => `"${name}":${isText ? `"${text}"` : text}`),
  ].join(',')

it.each(INDEXES)('index %s finds, counts and explains prices by their currency and exact value', async (index) => {
  const searcher = new Searcher()
  await fc.assert(
    fc.asyncProperty(
      fc.array(fields, { minLength: 1, maxLength: 30 }),
      fc.array(bounds, { maxLength: 6 }),
      async (all, searches) => {
        const prices = all.map(({ value, currency, group }) =>
          createPrice({
            value: String(Number(value)) === value ? Number(value) : value,
            currency,
            groupId: `g${group}`,
          }),
        )
        const { view } = await createTestView(prices, index)
        const finder = view.indexes.get(index)!
        for (const wanted of searches) {
          const steps: [string | undefined, (one: Price) => boolean][] = [
            [wanted.currency, (one) => one.currency === wanted.currency],
            [wanted.minValue, (one) => compareTexts(String(one.value), wanted.minValue!) >= 0],
            [wanted.maxValue, (one) => compareTexts(String(one.value), wanted.maxValue!) <= 0],
          ]
          const tests = steps.flatMap(([text, test]) => (text === undefined ? [] : [test]))
          const matching = prices.filter((one) => tests.every((test) => test(one)))
          const members = toJson(wanted)

          const query = new SearchQuery()
          const conditions = readSearchAll(Buffer.from(`{${members}}`))
          expect(resolveSearch(conditions, view, query)).toBeUndefined()
          const rows = (await Array.fromAsync(findAllRows(query, view, finder))).flat().sort((a, b) => a - b)
          expect(rows.map((row) => prices[row])).toEqual(matching)

          const facets = await computeFacets({ ...conditions, limit: 9, range: true }, view, finder)
          expect(facets.count).toBe(matching.length)
          expect(facets.groups!.values).toEqual(
            ['g1', 'g2'].flatMap((value) => {
              const count = matching.filter(({ groupId }) => groupId === value).length
              return count === 0 ? [] : [{ value, count }]
            }),
          )
          // As in the reply, because only JSON has all digits.
          const ranges = Array.from(
            JSON.stringify(facets.range).matchAll(/"currency":"(\w+)","count":(\d+),"min":([^,}]+),"max":([^,}]+)/g),
          )
          expect(ranges.map(([, currency, count]) => [currency, Number(count)])).toEqual(
            ['CHF', 'EUR', 'USD'].flatMap((currency) => {
              const count = matching.filter((one) => one.currency === currency).length
              return count === 0 ? [] : [[currency, count]]
            }),
          )
          for (const [, currency, , min, max] of ranges) {
            const values = matching
              .filter((one) => one.currency === currency)
              .map(({ value }) => toUnits(String(value)))
            expect(values.every((units) => toUnits(min!) <= units && units <= toUnits(max!))).toBe(true)
            expect(values).toContain(toUnits(min!))
            expect(values).toContain(toUnits(max!))
          }

          const base = { ...toSearch(prices[0]!), charValues: [] }
          const body = Buffer.from(JSON.stringify(base).replace(/}$/, members === '' ? '}' : `,${members}}`))
          const among = matching.filter(({ groupId }) => groupId === base.groupId)
          if (among.length === 1)
            expect(JSON.parse(searcher.answer(body, view, finder))).toMatchObject({ id: among[0]!.id })
          else
            expect(() => searcher.answer(body, view, finder)).toThrow(
              among.length === 0 ? 'Price not found' : `${among.length} prices match`,
            )
          const search = readSearch(body)
          resolveSearch(search, view, query)
          let left = prices.filter(({ groupId }) => groupId === base.groupId)
          const expected = [prices.length, left.length, left.length]
          for (const test of tests) expected.push((left = left.filter(test)).length)
          expect(explainSearch(search, view, query, finder).map((step) => step.left)).toEqual(expected)
        }
      },
    ),
    { numRuns: scaleRuns(30) },
  )
})

it.each(['"1,5"', '""', '"0x1"', '1234567890123456789012345678901234.5', '1e999'])('refuses the bound %s', (text) => {
  expect(() => readSearchAll(Buffer.from(`{"minValue":${text}}`))).toThrow('body/minValue must be a number')
})
