import type { Price } from '@influencer-stats/prices/core/price'
import { drawUuid } from '@influencer-stats/prices/sample/seeded-random'
import { createDrawnRequest, type Drawer } from './request-bytes.ts'
import { generatePrices, SAMPLE } from './catalogs.ts'

/** Number of offerings of new prices. Searches in the offerings of the sample are not affected by them. */
const MAX_NEW_OFFERINGS = 4_000

/** One price in `SAMPLE_STEP` is used for changes. All prices would take 500 MB in the generator. */
const SAMPLE_STEP = 50

/** @param random returns integers from 0 to `below` - 1 */
type PriceEdit = (price: Price, random: (below: number) => number) => Price
const pickPrices = () =>
  Iterator.from(generatePrices(SAMPLE))
    .filter((_, i) => i % SAMPLE_STEP === 0)
    .toArray()

const createChanges =
  (change: PriceEdit): Drawer =>
  (common, random) => {
    const prices = pickPrices()
    const below = (end: number) => Math.floor(random() * end)
    return () => {
      const price = change(prices[below(prices.length)]!, below)
      const body = JSON.stringify(price)
      const head = `PUT /prices/${price.id} HTTP/1.1\r\n${common}Content-Type: application/json\r\n`
      return createDrawnRequest(Buffer.from(`${head}Content-Length: ${Buffer.byteLength(body)}\r\n\r\n${body}`))
    }
  }

/** Drawers of changes of the sample catalog: new values of prices, and new prices. */
export const priceChanges: Readonly<Record<string, Drawer>> = {
  'prices-put-value': createChanges((price, random) => ({ ...price, value: random(1e6) })),
  'prices-put-new': createChanges((price, random) => ({
    ...price,
    id: drawUuid(random),
    offeringId: `New ${random(MAX_NEW_OFFERINGS)}`,
  })),
}
