import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { scaleRuns } from '@influencer-stats/runtime/testing/scale-runs'
import type { Price } from '../src/core/price.ts'
import { computeFacets, type FacetRequest } from '../src/search/facets/compute-facets.ts'
import { createTextFilter } from '../src/search/facets/text-filter.ts'
import { INDEXES } from './support/available-indexes.ts'
import { createTestView } from './support/catalog.ts'
import { createPrice } from './support/prices.ts'

describe('a part of a text', () => {
  it.each([
    ['Fiber 100', 'BER 1'],
    ['STRASSE', 'straße'],
    ['Straße', 'STRASSE'],
    ['Ｆｉｂｅｒ', 'fib'],
    ['Cafe\u0301', 'FÉ'],
    ['ΟΔΟΣΑ', 'οδος'],
    ['ΐ', '\u03ca\u0301'],
    ['ﬁber', 'FI'],
    ['10 ㎒', 'mhz'],
  ])('%s contains %s', (text, part) => {
    expect(createTextFilter(part)(text)).toBe(true)
    expect(createTextFilter(`${part}x`)(text)).toBe(false)
  })
})

// Names and values with a small alphabet, so that parts of them occur often.
const text = fc
  .array(fc.constantFrom('a', 'B', 'é', '_'), { minLength: 1, maxLength: 3 })
  .map((units) => units.join(''))
const price = fc.record({
  offeringId: text,
  groupId: text,
  priceSpecId: text,
  texts: fc.option(text, { nil: undefined }),
  number: fc.option(fc.integer({ min: -20, max: 120 }), { nil: undefined }),
  day: fc.option(fc.integer({ min: 1, max: 9 }), { nil: undefined }),
  speed: fc.option(fc.constantFrom('9 Mb', '10 Mb', '9.5 Mb', '10.0 Mb', '-1 Mb', '9007199254740993 Mb'), {
    nil: undefined,
  }),
})
type PriceFields = typeof price extends fc.Arbitrary<infer T> ? T : never
const toPrice = ({ texts, number, day, speed, ...names }: PriceFields): Price =>
  createPrice({
    ...names,
    charValues: [
      ...(texts === undefined ? [] : [{ char: 'Ab', value: texts }]),
      ...(number === undefined ? [] : [{ char: 'number', value: number }]),
      ...(day === undefined ? [] : [{ char: 'day', value: `2026-01-0${day}` }]),
      ...(speed === undefined ? [] : [{ char: 'speed', value: speed }]),
    ],
  })

type Value = string | number
const listValues = (one: Price, list: string): Value[] =>
  list in one
    ? [one[list as 'groupId']]
    : one.charValues.filter(({ char }) => char === list).map(({ value }) => value as Value)

/** The number of a quantity; 0 for any other value. */
const toSize = (value: Value) => (String(value).endsWith(' Mb') ? Number.parseFloat(String(value)) : 0)

/** The oracle: all values of a list with their counts. */
function expectedValues(prices: readonly Price[], list: string, { q, sort }: Pick<FacetRequest, 'q' | 'sort'>) {
  const counts = new Map<Value, number>()
  for (const value of prices.flatMap((one) => listValues(one, list))) counts.set(value, (counts.get(value) ?? 0) + 1)
  const has = (name: string) => name.toLowerCase().includes((q ?? '').toLowerCase())
  const all = Array.from(counts, ([value, count]) => ({ value, count }))
  const found = all.filter(({ value }) => has(String(value)))
  const isNamed = !prices.some((one) => list in one) && has(list)
  const values = found.length === 0 && isNamed ? all : found
  values.sort((a, b) => toSize(a.value) - toSize(b.value) || (a.value < b.value ? -1 : 1))
  return sort === 'count' ? values.sort((a, b) => b.count - a.count) : values
}

const LISTS = { offerings: 'offeringId', groups: 'groupId', specs: 'priceSpecId' } as const

describe.each(INDEXES)('pages of facets by index %s', (index) => {
  it('have every value, in each order and for each part of a text', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(price, { minLength: 1, maxLength: 25 }),
        fc.option(fc.constantFrom('A', 'b', 'É', '_', '0', 'ab', 'numb', '2026-01-0', 'none'), { nil: undefined }),
        fc.constantFrom('name' as const, 'count' as const),
        fc.integer({ min: 1, max: 3 }),
        async (fields, q, sort, limit) => {
          const prices = fields.map(toPrice)
          const { view } = await createTestView(prices, index)
          const get = (request: Partial<FacetRequest>) =>
            computeFacets({ charValues: [], q, sort, limit, ...request }, view, view.indexes.get(index)!)
          /** Returns the values of all pages. */
          async function readPages(request: Partial<FacetRequest>, select: (facets: any) => any) {
            const values: unknown[] = []
            for (let after: string | undefined, isFirst = true; isFirst || after !== undefined; isFirst = false) {
              const page = select(await get({ ...request, after }))
              expect(page.values.length).toBeLessThanOrEqual(limit)
              values.push(...page.values)
              after = page.next
            }
            return values
          }
          for (const [facet, field] of Object.entries(LISTS))
            expect(await readPages({ facet: facet as keyof typeof LISTS }, (all) => all[facet])).toEqual(
              expectedValues(prices, field, { q, sort }),
            )
          const whole = await get({})
          expect(whole.count).toBe(prices.length)
          const chars = ['Ab', 'day', 'number', 'speed'].filter((char) =>
            prices.some((one) => listValues(one, char).length > 0),
          )
          for (const char of chars)
            expect(await readPages({ char }, (all) => all.characteristics.values[0])).toEqual(
              expectedValues(prices, char, { q, sort }),
            )
          expect(whole.characteristics!.values.map(({ char }) => char)).toEqual(
            chars.filter((char) => expectedValues(prices, char, { q, sort }).length > 0),
          )
          for (const one of whole.characteristics!.values) {
            expect(one.values).toEqual(expectedValues(prices, one.char, { q, sort }).slice(0, limit))
            const all = expectedValues(prices, one.char, { q: undefined, sort: 'name' })
            const range = one.char === 'Ab' ? {} : { min: all[0]!.value, max: all.at(-1)!.value }
            expect({ ...(one.min !== undefined && { min: one.min, max: one.max }) }).toEqual(range)
          }
        },
      ),
      { numRuns: scaleRuns(30) },
    )
  })
})
