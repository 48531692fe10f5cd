import type { Price } from '@influencer-stats/prices/core/price'
import { seededUuid } from '@influencer-stats/prices/core/random'
import { drawn, type Drawer } from '../load/requests/request-bytes.ts'
import { pricesOf, SAMPLE } from './catalogs.ts'

/** Offerings that only changes know: searches for those of the sample find what they always found. */
const NEW_OFFERINGS = 4_000

/** One of so many prices is changed: all of them would take a generator 500 MB. */
const ONE_OF = 50

/** @param random gives integers from 0 to `below` - 1 */
type Change = (price: Price, random: (below: number) => number) => Price
const sampled = () =>
  Iterator.from(pricesOf(SAMPLE))
    .filter((_, i) => i % ONE_OF === 0)
    .toArray()

const changes =
  (change: Change): Drawer =>
  (common, random) => {
    const prices = sampled()
    const below = (end: number) => Math.floor(random() * end)
    return () => {
      const price = change(prices[below(prices.length)]!, below)
      const body = JSON.stringify(price)
      const head = `PUT /prices/${price.id} HTTP/1.1\r\n${common}Content-Type: application/json\r\n`
      return drawn(Buffer.from(`${head}Content-Length: ${Buffer.byteLength(body)}\r\n\r\n${body}`))
    }
  }

/** Changes of the sample catalog's prices: of what one costs, and new ones. */
export const priceChanges: Readonly<Record<string, Drawer>> = {
  'prices-put-value': changes((price, random) => ({ ...price, value: random(1e6) })),
  'prices-put-new': changes((price, random) => ({
    ...price,
    id: seededUuid(random),
    offeringId: `New ${random(NEW_OFFERINGS)}`,
  })),
}
