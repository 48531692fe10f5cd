import { expect, it } from 'vitest'
import { measureLongestHold } from '@influencer-stats/runtime/testing/longest-hold'
import { createTemporaryFolder } from '@influencer-stats/runtime/testing/temporary-folder'
import type { Price } from '../src/core/price.ts'
import { openPricesLevel } from '../src/storage/database.ts'
import { loadIndexes } from '../src/search/load-indexes.ts'
import { PriceCatalog } from '../src/catalog/price-catalog.ts'
import { PriceLineReader } from '../src/catalog/price-line-reader.ts'
import { createPrice, toUuid } from './support/prices.ts'

// The main thread must report to the supervisor and answer threads during any import.

const PRICE_COUNT = 50_000
/** Processor time (ms) between two checks of the clock, plus a garbage collection. */
const MAX_HOLD_MS = 120

const createNumberedPrice = (i: number): Price =>
  createPrice({
    id: toUuid(i),
    offeringId: `o${i % 60}`,
    groupId: `g${i % 3}`,
    charValues: [
      { char: 'n', value: i % 500 },
      { char: 'm', value: i % 11 },
    ],
    value: i,
  })

/** Reads prices as an import does, without turns of the event loop between its chunks. */
function readPrices(catalog: PriceCatalog, replace: boolean, prices: readonly Price[]): PriceLineReader {
  const reader = new PriceLineReader(catalog.createDraft(replace), replace, 1e6)
  for (const price of prices) reader.draft.put(price)
  return reader
}

it('an import yields to the event loop', async () => {
  const level = await openPricesLevel(createTemporaryFolder())
  const catalog = await PriceCatalog.open({
    level,
    indexes: await loadIndexes({ indexes: ['roaring', 'bitset'] }),
    hasSharedBlocks: true,
    maxPrices: 1e6,
    log: { error: () => undefined },
    onChange: async () => undefined,
    onReplace: async () => undefined,
  })
  const all = (from: number) => Array.from({ length: PRICE_COUNT }, (_, i) => createNumberedPrice(from + i))
  const first = readPrices(catalog, true, all(0))
  expect((await measureLongestHold(() => catalog.takeImport(first))).held).toBeLessThan(MAX_HOLD_MS)
  const more = readPrices(catalog, false, all(PRICE_COUNT / 2))
  const { result, held } = await measureLongestHold(() => catalog.takeImport(more))
  expect(result).toBe(1.5 * PRICE_COUNT)
  expect(held).toBeLessThan(MAX_HOLD_MS)
  await level.close()
})
