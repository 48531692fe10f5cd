import { expect, it } from 'vitest'
import { expectShortHold, measureLongestHold } from '@influencer-stats/runtime/testing/longest-hold'
import { createTemporaryFolder } from '@influencer-stats/runtime/testing/temporary-folder'
import type { Price } from '../src/core/price.ts'
import { openPricesLevel } from '../src/storage/database.ts'
import { loadIndexes } from '../src/search/load-indexes.ts'
import { createPrice, toUuid } from './support/prices.ts'
import { createTestImport, NO_POSITION, openTestCatalog } from './support/standalone.ts'

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

it('an import yields to the event loop', async () => {
  const level = await openPricesLevel(createTemporaryFolder())
  const catalog = await openTestCatalog(level, { indexes: await loadIndexes({ indexes: ['roaring', 'bitset'] }) })
  const all = (from: number) => Array.from({ length: PRICE_COUNT }, (_, i) => createNumberedPrice(from + i))
  const takeImport = (from: number, replaces: boolean) =>
    expectShortHold(MAX_HOLD_MS, () => {
      const lines = createTestImport(all(from), replaces)
      return measureLongestHold(() => catalog.takeImport(lines, NO_POSITION))
    })
  expect(await takeImport(0, true)).toBe(PRICE_COUNT)
  expect(await takeImport(PRICE_COUNT / 2, false)).toBe(1.5 * PRICE_COUNT)
  await level.close()
})
