import fc from 'fast-check'
import { expect, it } from 'vitest'
import { scaleRuns } from '@influencer-stats/runtime/testing/scale-runs'
import type { Price } from '../src/core/price.ts'
import { SearchQuery } from '../src/core/search-query.ts'
import { findAllRows } from '../src/search/find-all.ts'
import { resolveRequest } from '../src/search/resolve-request.ts'
import type { SearchConditions } from '../src/search/search-request.ts'
import { INDEXES } from './support/available-indexes.ts'
import { createTestView } from './support/catalog.ts'
import { createPrice } from './support/prices.ts'

const name = (prefix: string, most: number) => fc.integer({ min: 1, max: most }).map((n) => `${prefix}${n}`)
const term = fc.integer({ min: 1, max: 3 }).map((value) => ({ char: 'term', value }))
const price = fc.record({
  offeringId: name('o', 6),
  groupId: name('g', 3),
  priceSpecId: name('s', 2),
  charValues: fc.array(term, { maxLength: 1 }),
})
const optional = <T>(of: fc.Arbitrary<T>) => fc.option(of, { nil: undefined })
const conditions: fc.Arbitrary<SearchConditions> = fc
  .record({
    offeringId: optional(name('o', 6)),
    groupId: optional(name('g', 3)),
    priceSpecId: optional(name('s', 2)),
    charValues: fc.array(
      fc.oneof(
        term,
        term.map(({ char, value }) => ({ char, op: 'not' as const, value })),
      ),
      { maxLength: 2 },
    ),
  })
  .map(({ offeringId, groupId, priceSpecId, charValues }) => ({
    charValues,
    ...(offeringId && { offeringId }),
    ...(groupId && { groupId }),
    ...(priceSpecId && { priceSpecId }),
  }))

const matches = (one: Price, { charValues, ...names }: SearchConditions): boolean =>
  Object.entries(names).every(([field, value]) => one[field as 'groupId'] === value) &&
  charValues.every(({ op = 'equals', value }) =>
    one.charValues.some((own) => (own.value === value) === (op === 'equals')),
  )

it.each(INDEXES)('index %s finds all prices that match any subset of the conditions', async (index) => {
  await fc.assert(
    fc.asyncProperty(
      fc.array(price, { minLength: 1, maxLength: 40 }),
      fc.array(conditions, { maxLength: 8 }),
      async (fields, searches) => {
        const prices = fields.map((one) => createPrice(one))
        const { view } = await createTestView(prices, index)
        for (const search of searches) {
          const query = new SearchQuery()
          // Names and values that no price has are refused, so they have no result to compare.
          if (resolveRequest(search, view, query)) continue
          const lists = await Array.fromAsync(findAllRows(query, view, view.indexes.get(index)!))
          const expected = prices.flatMap((one, row) => (matches(one, search) ? [row] : []))
          expect(lists.flat().sort((a, b) => a - b)).toEqual(expected)
          for (const rows of lists) expect(new Set(rows.map((row) => prices[row]!.offeringId)).size).toBe(1)
        }
      },
    ),
    { numRuns: scaleRuns(40) },
  )
})
