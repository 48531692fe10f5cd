import type { Due } from '../core/own-keys.ts'
import { turn } from '../core/turn.ts'
import type { Expiring } from './expiries.ts'
import type { Store } from './store.ts'

export interface SweeperOptions {
  readonly expiring: Expiring
  /** Some of what has expired by then, the oldest first. */
  due(upTo: number, limit: number): Promise<readonly Due[]>
  readonly write: Store['write']
}

/** Something that is done now and then until it is closed. */
export interface Sweeper {
  /** Resolves once nothing is under way. Idempotent. */
  close(): Promise<void>
}

const EVERY = 200
/** Keys that are taken away before others have their turn. */
const SLICE = 256

/** Takes away what has expired, in the order of all writes; where a service runs alone. */
export function createSweeper({ expiring, due, write }: SweeperOptions): Sweeper {
  let running: Promise<void> | undefined
  let isClosed = false

  async function sweep(): Promise<void> {
    for (let isMore = true; isMore && !isClosed; await turn()) {
      const keys = await due(Date.now(), SLICE)
      // What was written again meanwhile has another time, or none.
      await Promise.all(
        keys.map(({ key, time }) =>
          write({ ops: [{ type: 'del', key }], condition: { due: time }, durable: false }, () => {}),
        ),
      )
      isMore = keys.length === SLICE
    }
  }

  const timer = setInterval(() => {
    if (running || !expiring.isTimed || !expiring.claims(Math.floor(Date.now() / EVERY) | 0)) return
    running = sweep()
      // The store takes no writes at present.
      .catch(() => {})
      .finally(() => (running = undefined))
  }, EVERY).unref()

  return {
    async close() {
      isClosed = true
      clearInterval(timer)
      await running
    },
  }
}
