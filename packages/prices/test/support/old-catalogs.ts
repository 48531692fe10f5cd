import { cpSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { temporaryFolder } from '@influencer-stats/runtime/testing/temporary'
import type { Price } from '../../src/core/price.ts'
import { uuid } from './prices.ts'

const folderOf = (format: number) => fileURLToPath(new URL(`../fixtures/format-${format}`, import.meta.url))

/** So many prices were imported into a folder of an old format, in the place of fewer. */
const IMPORTED = 560

function imported(i: number): Price {
  return {
    id: uuid(i),
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

/** What lies in the folders: some were changed, put and removed after the import. */
export function oldPrices(): Map<string, Price> {
  const prices = new Map(Array.from({ length: IMPORTED }, (_, i) => [uuid(i), imported(i)]))
  prices.set(uuid(7), { ...imported(7), value: 1_000 })
  prices.set(uuid(520), { ...imported(520), charValues: [{ char: 'n', value: 99_999 }] })
  prices.set(uuid(8), { ...imported(8), offeringId: 'o9' })
  prices.set(uuid(IMPORTED), { ...imported(IMPORTED), value: -0.5 })
  prices.delete(uuid(9))
  prices.delete(uuid(530))
  return prices
}

/** Those that were there before the import, which are kept as the generation before it. */
export const olderPrices = (): Price[] => Array.from({ length: 40 }, (_, i) => imported(i))

/** A copy of a folder that the service wrote in an old format. */
export function oldCatalog(format: number): string {
  const folder = temporaryFolder()
  cpSync(folderOf(format), folder, { recursive: true })
  return folder
}
