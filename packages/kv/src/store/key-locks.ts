import { toIdempotencyRow } from '../core/internal-keys.ts'
import { yieldTurn } from '@influencer-stats/runtime/async/yield'
import type { KvWrite } from './store.ts'

/**
 * Number of stripes, which take 256 KiB. Two groups of 64 random keys on two threads share a stripe in 6 % of all
 * cases; with 1,024 stripes they practically always would.
 */
const STRIPE_COUNT = 65_536

/** Number of keys to hash before `yieldTurn`: 0.8 ms if the keys are long. */
const SLICE_KEYS = 250

/** Locks of keys. A key belongs to one stripe; only the holder of a stripe writes its keys. */
export interface KeyLocks {
  /** Resolves with the stripes of all keys of the writes, ascending, each once. */
  getStripes(writes: readonly KvWrite[]): Promise<Uint32Array>
  /**
   * Acquires stripes in ascending order, which prevents deadlocks.
   * @returns undefined if all were free; otherwise a promise, for which the caller must wait
   */
  acquire(stripes: Uint32Array): Promise<void> | undefined
  release(stripes: Uint32Array): void
}

export const createLockMemory = () => new SharedArrayBuffer(STRIPE_COUNT * Int32Array.BYTES_PER_ELEMENT)

/**
 * Creates the access of one thread to the locks. A stripe is a word of shared memory: 0 if it is free, `owner` if it is
 * held, `-owner` if it is held and another thread waits. To acquire and release one stripe costs 0.2 us, including the
 * hash of its key. If the main thread wrote instead, each write would cost a round trip of 57 us.
 * @param owner a positive number that no other thread has or had
 */
export function createKeyLocks(memory: SharedArrayBuffer, owner: number): KeyLocks {
  const words = new Int32Array(memory)

  async function waitFor(stripes: Uint32Array, from: number): Promise<void> {
    for (let i = from; i < stripes.length; i++) {
      const stripe = stripes[i]!
      for (;;) {
        const holder = Atomics.compareExchange(words, stripe, 0, owner)
        if (holder === 0) break
        if (holder > 0 && Atomics.compareExchange(words, stripe, holder, -holder) !== holder) continue
        // `Atomics.wait` would block the event loop.
        await Atomics.waitAsync(words, stripe, -Math.abs(holder)).value
      }
    }
  }

  return {
    async getStripes(writes) {
      const stripes = new Set<number>()
      let keys = 0
      for (const { ops, idempotencyKey } of writes) {
        if (idempotencyKey !== undefined) stripes.add(toStripe(toIdempotencyRow(idempotencyKey)))
        for (const { key } of ops) {
          stripes.add(toStripe(key))
          if (++keys % SLICE_KEYS === 0) await yieldTurn()
        }
      }
      return Uint32Array.from(stripes).sort()
    },
    acquire(stripes) {
      for (let i = 0; i < stripes.length; i++) {
        if (Atomics.compareExchange(words, stripes[i]!, 0, owner) !== 0) return waitFor(stripes, i)
      }
      return undefined
    },
    release(stripes) {
      for (const stripe of stripes) releaseStripe(words, stripe)
    },
  }
}

/**
 * Releases all stripes of a thread that has ended. A thread ends only after its running writes, so no write needs these
 * stripes any more.
 */
export function releaseLocksOf(memory: SharedArrayBuffer, owner: number): void {
  const words = new Int32Array(memory)
  for (let stripe = 0; stripe < words.length; stripe++) {
    if (Math.abs(Atomics.load(words, stripe)) === owner) releaseStripe(words, stripe)
  }
}

function releaseStripe(words: Int32Array, stripe: number): void {
  if (Atomics.exchange(words, stripe, 0) < 0) Atomics.notify(words, stripe)
}

/** Returns the stripe of a key: its FNV-1a hash, whose upper half is folded onto the lower one. */
function toStripe(key: Buffer): number {
  let hash = 0x811c9dc5
  for (const byte of key) hash = Math.imul(hash ^ byte, 0x01000193)
  return (hash ^ (hash >>> 16)) & (STRIPE_COUNT - 1)
}
