import { toDuePosition, MAX_EXPIRY_MS, toNextDuePosition, type DueKey } from '../core/internal-keys.ts'
import { setImmediate as nextTurn } from 'node:timers/promises'
import type { TtlState } from './ttl.ts'
import type { KvStore } from './store.ts'

export interface SweeperOptions {
  readonly ttl: TtlState
  /** Reads keys that expire, due or not, in the order of their times from a position on (`core/internal-keys.ts`). */
  readDueKeys(position: Buffer, limit: number): Promise<readonly DueKey[]>
  readonly write: KvStore['write']
  /** Returns the error with which the store refuses removals at present; undefined if it accepts them. */
  readonly getFault?: KvStore['getFault']
}

/** Periodic removal of expired values. */
export interface Sweeper {
  /** Resolves once no removal is in progress. Idempotent. */
  close(): Promise<void>
}

const SWEEP_INTERVAL_MS = 200
/** Number of keys to remove before the sweep yields to requests: 1 to 2 ms. */
const SLICE_KEYS = 64

/**
 * Removes expired values of a standalone service. Each removal is a write with its own position in the order of writes.
 * The sweep only frees space: reads check the expiry themselves. Each search begins after the last removed key, because
 * LevelDB steps over every deleted key: searches from the beginning cost 326 us per key among 600,000. While no key is
 * due, the sweep does not read the database.
 */
export function createSweeper({ ttl, readDueKeys, write, getFault = () => undefined }: SweeperOptions): Sweeper {
  let running: Promise<void> | undefined
  let isClosed = false

  async function sweep(from: number): Promise<void> {
    let first = from
    try {
      for (let position = toDuePosition(from); !isClosed; await nextTurn()) {
        const now = ttl.now()
        const found = await readDueKeys(position, SLICE_KEYS)
        const nextFirst = found.find(({ time }) => time > now)
        const expired = nextFirst ? found.slice(0, found.indexOf(nextFirst)) : found
        await Promise.all(expired.map(remove))
        first = nextFirst?.time ?? (found.length < SLICE_KEYS ? MAX_EXPIRY_MS : found.at(-1)!.time)
        if (nextFirst || first === MAX_EXPIRY_MS) return
        position = toNextDuePosition(found.at(-1)!)
      }
    } finally {
      ttl.lowerFirstDue(first)
    }
  }

  const remove = ({ key, time }: DueKey) =>
    write({ ops: [{ type: 'del', key }], condition: { due: time }, durable: false }, (revision) => {
      // The condition fails if the key was written meanwhile: it then has another expiry time, or none. It also fails
      // if the clock was set back, so that the key is not due yet: a later sweep must find it.
      if (revision === undefined && ttl.now() < time) ttl.lowerFirstDue(time)
    })

  const timer = setInterval(() => {
    if (running || !ttl.isTimed || getFault()) return
    const from = ttl.takeFirstDue()
    if (from === undefined) return
    running = sweep(from)
      // The store accepts no writes at present. A later sweep continues.
      .catch(() => {})
      .finally(() => (running = undefined))
  }, SWEEP_INTERVAL_MS).unref()

  return {
    async close() {
      isClosed = true
      clearInterval(timer)
      await running
    },
  }
}
