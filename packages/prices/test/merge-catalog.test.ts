import { createTemporaryFolder } from '@influencer-stats/runtime/testing/temporary-folder'
import { scaleRuns } from '@influencer-stats/runtime/testing/scale-runs'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { BLOCK_ROWS } from '../src/core/answer-block.ts'
import type { Price } from '../src/core/price.ts'
import { openPricesLevel } from '../src/storage/database.ts'
import { createPrice, toUuid } from './support/prices.ts'
import { listPrices } from './support/state-machine.ts'
import { createTestImport, NO_POSITION, openTestCatalog } from './support/standalone.ts'

// Several blocks of rows.
const price: fc.Arbitrary<Price> = fc
  .record({
    id: fc.integer({ min: 1, max: 4 * BLOCK_ROWS }).map(toUuid),
    offeringId: fc.constantFrom('a', 'a', 'a', 'b'),
    charValues: fc.nat(99).map((n) => [{ char: 'n', value: n }]),
    currency: fc.constantFrom('EUR', 'USD'),
    value: fc.nat(9),
    default: fc.boolean(),
  })
  .map(createPrice)
const some = fc.oneof(
  fc.array(price, { minLength: 3 * BLOCK_ROWS, maxLength: 5 * BLOCK_ROWS }),
  fc.array(price, { maxLength: 9 }),
  // All rows of the first block are replaced.
  fc
    .array(price, { minLength: 2 * BLOCK_ROWS, maxLength: 2 * BLOCK_ROWS })
    .map((prices) => prices.map((one, i) => ({ ...one, id: toUuid(i), offeringId: 'a' }))),
)

async function open(maxSinglePuts: number) {
  const level = await openPricesLevel(createTemporaryFolder())
  const catalog = await openTestCatalog(level, { maxSinglePuts })
  return {
    catalog,
    level,
    import: (prices: readonly Price[]) => catalog.takeImport(createTestImport(prices, false), NO_POSITION),
  }
}

describe('a merge', () => {
  it('gives the same rows as single puts, in the same order, also after a restart', async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(some, { minLength: 1, maxLength: 3 }), async (imports) => {
        const [merged, single] = [await open(0), await open(Infinity)]
        for (const prices of imports) {
          expect(await merged.import(prices)).toBe(await single.import(prices))
          expect(await listPrices(merged.catalog)).toEqual(await listPrices(single.catalog))
        }
        const prices = await listPrices(merged.catalog)
        for (const one of prices.slice(0, 50)) expect(await merged.catalog.get(one.id)).toEqual(one)
        await merged.catalog.load()
        expect(await listPrices(merged.catalog)).toEqual(prices)
        await Promise.all([merged.level.close(), single.level.close()])
      }),
      { numRuns: scaleRuns(5) },
    )
  })

  it.each([0, Infinity])('may change a type if it replaces all prices of that type (single puts: %s)', async (max) => {
    const { catalog, level, import: importPrices } = await open(max)
    const typed = (id: number, value: string | number) =>
      createPrice({ id: toUuid(id), charValues: [{ char: 'n', value }] })
    await importPrices([typed(1, 1), typed(2, 2)])
    await expect(importPrices([typed(1, 'a')])).rejects.toMatchObject({ code: 'TYPE_CONFLICT' })
    const both = [typed(2, 'b'), typed(3, 'c'), typed(1, 'a')]
    const old = { ...createTestImport(both, false), isV1: true }
    await expect(catalog.takeImport(old, NO_POSITION)).rejects.toMatchObject({ code: 'TYPE_CONFLICT' })
    expect(await importPrices(both)).toBe(3)
    expect((await listPrices(catalog)).map(({ charValues }) => charValues[0]!.value)).toEqual(['a', 'b', 'c'])
    await level.close()
  })

  it('changes nothing if it is refused, and adds no terms', async () => {
    const { catalog, level, import: importPrices } = await open(0)
    await importPrices([createPrice({ charValues: [{ char: 'n', value: 1 }] })])
    const { terms, kinds } = catalog.meta
    const refused = [createPrice({ offeringId: 'new', charValues: [{ char: 'n', value: 'text' }] })]
    await expect(importPrices(refused)).rejects.toMatchObject({ code: 'TYPE_CONFLICT' })
    const full = { ...createTestImport([createPrice(), createPrice()], false), maxPrices: 2 }
    await expect(catalog.takeImport(full, NO_POSITION)).rejects.toMatchObject({ code: 'CATALOG_FULL' })
    expect(catalog.meta).toMatchObject({ terms, kinds })
    expect(catalog.getState().terms).toHaveLength(terms)
    await level.close()
  })
})
