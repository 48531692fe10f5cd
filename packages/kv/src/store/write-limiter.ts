import type { Budget } from '@influencer-stats/runtime/budget'
import { createMemoryFull } from '@influencer-stats/runtime/errors'
import { errors } from '../errors.ts'
import type { WriteQueue } from './store.ts'

export interface WriteLimiterOptions {
  /** Maximum size of the queue, in bytes and in writes. */
  readonly maxBytes: number
  readonly maxWrites: number
  /** Maximum time that a write waits for free capacity (ms). */
  readonly timeout: number
  /** Memory budget of all writes that wait, in the queue or for capacity in it. */
  readonly budget?: Budget
}

/** Limits the queue of writes. LevelDB refuses no write, so without a limit a slow disk would fill the memory. */
export interface WriteLimiter extends WriteQueue {
  /** Takes capacity if it is free; does not wait. @returns true if it was taken */
  tryEnter(bytes: number): boolean
  /**
   * Waits for free capacity, takes it and starts a write at that moment, before any later write can enter.
   * @param bytes in whole units of the budget. @throws MEMORY_FULL at once, WRITE_QUEUE_FULL after the time-out
   */
  enter<T>(bytes: number, start: () => T | Promise<T>): Promise<T>
  /** Releases the capacity of settled writes. */
  release(bytes: number, writes: number): void
}

interface PendingWrite {
  readonly bytes: number
  readonly enter: () => void
}

export function createWriteLimiter({ maxBytes, maxWrites, timeout, budget }: WriteLimiterOptions): WriteLimiter {
  const pending = new Set<PendingWrite>()
  let bytes = 0
  let writes = 0

  // A write that is larger than the whole queue enters alone.
  const hasCapacity = (more: number) => writes === 0 || (writes < maxWrites && bytes + more <= maxBytes)

  function take(more: number): void {
    bytes += more
    writes++
  }

  function enter<T>(more: number, start: () => T | Promise<T>): Promise<T> {
    if (budget?.take(more) === false) return Promise.reject(createMemoryFull())
    return new Promise((resolve, reject) => {
      const timer = setTimeout(() => {
        pending.delete(entry)
        budget?.release(more)
        const seconds = String(Math.ceil(timeout / 1000))
        reject(errors.WRITE_QUEUE_FULL(undefined, { headers: { 'retry-after': seconds } }))
      }, timeout)
      const entry: PendingWrite = {
        bytes: more,
        enter() {
          clearTimeout(timer)
          take(more)
          resolve(start())
        },
      }
      pending.add(entry)
    })
  }

  function tryEnter(more: number): boolean {
    if (pending.size > 0 || !hasCapacity(more) || budget?.take(more) === false) return false
    take(more)
    return true
  }

  return {
    tryEnter,
    get bytes() {
      return bytes
    },
    get writes() {
      return writes
    },
    enter,
    release(less, settled) {
      bytes -= less
      writes -= settled
      budget?.release(less)
      // In their order, so that small writes cannot overtake a large one for ever.
      for (const entry of pending) {
        if (!hasCapacity(entry.bytes)) return
        pending.delete(entry)
        entry.enter()
      }
    },
  }
}
