import { Batcher } from '@influencer-stats/runtime/async/batcher'
import type { Bus } from '@influencer-stats/runtime/channel'
import type { Price } from '../../core/price.ts'
import type { PricesMainMessage, PricesThreadMessage } from '../../messages.ts'
import type { ReadPrices } from './describe-refusal.ts'

/** Time for which refused searches wait for the main thread (ms). */
const READ_TIMEOUT_MS = 5_000

interface PendingRead {
  readonly ids: readonly string[]
  readonly resolve: (prices: Price[] | undefined) => void
}

/**
 * Creates a function that reads prices from the main thread, because a serving thread does not have the rows of prices.
 * Reads that arrive while others are in flight form one message, so that many refused searches do not delay changes.
 * @param onError receives the reason if prices cannot be read; the replies then have no prices
 */
export function createPriceReader(
  bus: Bus<PricesMainMessage, PricesThreadMessage>,
  onError: (error: unknown) => void,
): ReadPrices {
  const main = bus.withTimeout(READ_TIMEOUT_MS)
  const batcher = new Batcher<PendingRead>(async (batch) => {
    try {
      const prices = await main.call(
        'getMany',
        batch.flatMap(({ ids }) => ids),
      )
      let at = 0
      for (const { ids, resolve } of batch)
        resolve(prices.slice(at, (at += ids.length)).filter((price) => price !== undefined))
    } catch (error) {
      onError(error)
      for (const { resolve } of batch) resolve(undefined)
    }
  })
  return async (ids) => (ids.length === 0 ? [] : new Promise((resolve) => batcher.add({ ids, resolve })))
}
