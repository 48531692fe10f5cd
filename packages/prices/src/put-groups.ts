import type { Bus } from '@influencer-stats/runtime/channel'
import { fromWire } from '@influencer-stats/runtime/problems'
import { Groups, type Pending } from './groups.ts'
import type { Put, ToMain, ToThread } from './messages.ts'
import { turnstile } from './turn.ts'

/** So many puts are read in a turn, and so many are answered: each ends in a reply that is written. */
export const PUTS_A_TURN = 8

/** Takes a put to main; whether the price is new. */
export type PutPrice = (put: Put) => Promise<boolean>

/** Those that come while others are on their way to main go there together: a message each would cost more than all else. */
export function groupPuts(bus: Bus<ToMain, ToThread>): PutPrice {
  let last: Promise<void> = Promise.resolve()
  const leave = turnstile(PUTS_A_TURN)
  const groups = new Groups<Put, boolean>((run) => (last = last.then(run)), send)

  async function send(group: readonly Pending<Put, boolean>[]): Promise<void> {
    try {
      const outcomes = await bus.call(
        'put',
        group.map(({ change }) => change),
      )
      for (const [i, { resolve, reject }] of group.entries()) {
        const outcome = outcomes[i]!
        await leave()
        if (typeof outcome === 'boolean') resolve(outcome)
        else reject(fromWire(outcome))
      }
    } catch (error) {
      for (const { reject } of group) reject(error)
    }
  }

  return (put) => groups.submit(put)
}
