import { cpSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { createTemporaryFolder } from '@influencer-stats/runtime/testing/temporary-folder'
import type { Price } from '../../src/core/price.ts'
import { toUuid } from './prices.ts'

const getFixtureFolder = (format: number) => fileURLToPath(new URL(`../fixtures/format-${format}`, import.meta.url))

/** Number of prices that were imported into a folder of an old format, where they replaced fewer. */
const IMPORTED_PRICES = 560

export function createImportedPrice(i: number): Price {
  return {
    id: toUuid(i),
    offeringId: `o${i % 3}`,
    groupId: `g${i % 2}`,
    priceSpecId: i % 5 === 0 ? 'NRC' : 'MRC',
    charValues: [
      { char: 'n', value: i },
      { char: 'name', value: `näme ${i % 7}` },
    ],
    value: i / 4,
    currency: i % 11 === 0 ? 'EUR' : 'USD',
    ...(i % 4 === 0 && { default: true }),
    ...(i % 6 === 0 && { from: '2026-01-01', to: '2026-06-30' }),
  }
}

/** The contents of the folders: some prices were changed, put and removed after the import. */
export function listOldPrices(): Map<string, Price> {
  const prices = new Map(Array.from({ length: IMPORTED_PRICES }, (_, i) => [toUuid(i), createImportedPrice(i)]))
  prices.set(toUuid(7), { ...createImportedPrice(7), value: 1_000 })
  prices.set(toUuid(520), { ...createImportedPrice(520), charValues: [{ char: 'n', value: 99_999 }] })
  prices.set(toUuid(8), { ...createImportedPrice(8), offeringId: 'o9' })
  prices.set(toUuid(IMPORTED_PRICES), { ...createImportedPrice(IMPORTED_PRICES), value: -0.5 })
  prices.delete(toUuid(9))
  prices.delete(toUuid(530))
  return prices
}

/** The prices before the import, which are stored as the previous generation. */
export const listOlderPrices = (): Price[] => Array.from({ length: 40 }, (_, i) => createImportedPrice(i))

/** Copies a folder that the service wrote in an old format. Version 0.2.0 wrote the one of format 3. */
export function copyOldCatalog(format: number): string {
  const folder = createTemporaryFolder()
  cpSync(getFixtureFolder(format), folder, { recursive: true })
  return folder
}
