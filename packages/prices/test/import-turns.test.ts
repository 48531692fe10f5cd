import { expect, it } from 'vitest'
import { longestHold } from '@influencer-stats/runtime/testing/longest-hold'
import { temporaryFolder } from '@influencer-stats/runtime/testing/temporary'
import type { Price } from '../src/core/price.ts'
import { openPricesLevel } from '../src/database.ts'
import { loadIndexes } from '../src/load-indexes.ts'
import { CatalogOwner } from '../src/owner/catalog-owner.ts'
import { PriceLineReader } from '../src/price-line-reader.ts'
import { priceOf, uuid } from './support/prices.ts'

// Main tells the supervisor that it lives, and answers threads, whatever it is told to import.

const MANY = 50_000
/** Of processor time (ms): what lies between two looks at the clock, and a collection of garbage. */
const LONGEST = 120

const priceNumber = (i: number): Price =>
  priceOf({
    id: uuid(i),
    offeringId: `o${i % 60}`,
    groupId: `g${i % 3}`,
    charValues: [
      { char: 'n', value: i % 500 },
      { char: 'm', value: i % 11 },
    ],
    value: i,
  })

/** Takes prices in as an import does, but for the turns between its chunks. */
function read(owner: CatalogOwner, replace: boolean, prices: readonly Price[]): PriceLineReader {
  const reader = new PriceLineReader(owner.draft(replace), replace, 1e6)
  for (const price of prices) reader.draft.put(price)
  return reader
}

it('an import lets the loop have its turns', async () => {
  const level = await openPricesLevel(temporaryFolder())
  const owner = await CatalogOwner.open({
    level,
    indexes: await loadIndexes({ indexes: ['roaring', 'bitset'] }),
    holdsBlocks: true,
    most: 1e6,
    log: { error: () => undefined },
    onChange: async () => undefined,
    onReplace: async () => undefined,
  })
  const all = (from: number) => Array.from({ length: MANY }, (_, i) => priceNumber(from + i))
  const first = read(owner, true, all(0))
  expect((await longestHold(() => owner.take(first))).held).toBeLessThan(LONGEST)
  const more = read(owner, false, all(MANY / 2))
  const { result, held } = await longestHold(() => owner.take(more))
  expect(result).toBe(1.5 * MANY)
  expect(held).toBeLessThan(LONGEST)
  await level.close()
})
