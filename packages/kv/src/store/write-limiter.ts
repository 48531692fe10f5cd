import type { Budget } from '@influencer-stats/runtime/budget'
import { createMemoryFull } from '@influencer-stats/runtime/errors'
import { errors } from '../errors.ts'
import type { WriteQueue } from './store.ts'

export interface WriteLimiterOptions {
  /** Maximum size of the queue (bytes). */
  readonly maxBytes: number
  /** Maximum number of writes in the queue. */
  readonly maxWrites: number
  /** Maximum time that a write waits for free capacity (ms). */
  readonly timeout: number
  /** Memory budget of the writes in the queue, and of those that wait for capacity. */
  readonly budget?: Budget
}

/** Limits the queue of writes. LevelDB never rejects a write, so without a limit a slow disk would fill the memory. */
export interface WriteLimiter extends WriteQueue {
  /**
   * Takes capacity if it is free and no other write waits for it.
   * @param bytes a multiple of 1 KiB (`roundToUnits`)
   * @returns true if the capacity was taken
   */
  tryEnter(bytes: number): boolean
  /**
   * Waits for free capacity, takes it and starts a write at once, before any later write can enter. To be called only
   * after `tryEnter` returned false: it waits for the release of another write.
   * @param bytes a multiple of 1 KiB (`roundToUnits`)
   * @throws MEMORY_FULL at once; WRITE_QUEUE_FULL after the timeout
   */
  enter<T>(bytes: number, start: () => T | Promise<T>): Promise<T>
  /** Releases the capacity of writes that have succeeded or failed. */
  release(bytes: number, writes: number): void
}

/** Write that waits for capacity. */
interface PendingWrite {
  readonly bytes: number
  readonly enter: () => void
}

export function createWriteLimiter({ maxBytes, maxWrites, timeout, budget }: WriteLimiterOptions): WriteLimiter {
  const pending = new Set<PendingWrite>()
  let bytes = 0
  let writes = 0

  // A write that is larger than the limit of the queue enters if the queue is empty.
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
      // Waiting writes enter in the order of their arrival. Otherwise small writes could delay a large one
      // indefinitely.
      for (const entry of pending) {
        if (!hasCapacity(entry.bytes)) return
        pending.delete(entry)
        entry.enter()
      }
    },
  }
}
