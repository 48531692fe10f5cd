import { Serial } from '@influencer-stats/runtime/async/serial'
import type { Bus } from '@influencer-stats/runtime/channel'
import { parseWireError } from '@influencer-stats/runtime/problems'
import { setImmediate as nextTurn } from 'node:timers/promises'
import type { PricePut, PricesMainMessage, PricesThreadMessage } from '../../messages.ts'
import { createPerTurnLimiter } from './per-turn-limiter.ts'

/**
 * Maximum number of puts that a thread reads, and that it answers, per turn of the event loop. Each put ends in a written
 * reply, so more of them would delay other requests.
 */
export const MAX_PUTS_PER_TURN = 8

/** Sends a put to the main thread. Resolves with true if the price is new. */
export type PutPrice = (put: PricePut) => Promise<boolean>

interface PendingPut {
  readonly put: PricePut
  readonly resolve: (isNew: boolean) => void
  readonly reject: (error: unknown) => void
}

/**
 * Sends puts in batches. Puts that arrive while others are in flight form one message: a separate message for each
 * costs more than all other steps together.
 */
export function batchPuts(bus: Bus<PricesMainMessage, PricesThreadMessage>): PutPrice {
  const serial = new Serial()
  const waitForTurn = createPerTurnLimiter(MAX_PUTS_PER_TURN)
  let pending: PendingPut[] = []

  async function send(): Promise<void> {
    // After all requests that the event loop reads in this turn.
    await nextTurn()
    const batch = pending
    pending = []
    try {
      const outcomes = await bus.call(
        'put',
        batch.map(({ put }) => put),
      )
      for (const [i, { resolve, reject }] of batch.entries()) {
        const outcome = outcomes[i]!
        await waitForTurn()
        if (typeof outcome === 'boolean') resolve(outcome)
        else reject(parseWireError(outcome))
      }
    } catch (error) {
      for (const { reject } of batch) reject(error)
    }
  }

  return (put) =>
    new Promise((resolve, reject) => {
      if (pending.push({ put, resolve, reject }) === 1) void serial.run(send)
    })
}
