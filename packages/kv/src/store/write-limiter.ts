import type { Budget } from '@influencer-stats/runtime/budget'
import { createMemoryFull } from '@influencer-stats/runtime/errors'
import { errors } from '../errors.ts'
import type { WriteQueue } from './store.ts'

export interface WriteLimiterOptions {
  /** Most bytes and most writes that wait to be written. */
  readonly maxBytes: number
  readonly maxWrites: number
  /** How long a write waits for room (ms). */
  readonly timeout: number
  /** What all that waits is taken from, in the queue or for room in it. */
  readonly budget?: Budget
}

/** Keeps the queue of writes bounded: LevelDB refuses nothing, so without it a slow disk would fill the memory. */
export interface WriteLimiter extends WriteQueue {
  /** Whether there is room, which is then taken: for who does not wait for it. */
  tryEnter(bytes: number): boolean
  /**
   * Waits for free capacity, takes it and starts a write at that moment, before any later write can enter.
   * @param bytes in whole units of the budget. @throws MEMORY_FULL at once, WRITE_QUEUE_FULL after the time-out
   */
  enter<T>(bytes: number, start: () => T | Promise<T>): Promise<T>
  /** Of so many writes that have settled. */
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

  // What is larger than the whole queue is let in alone.
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
      // In their order: a large one is not overtaken for ever by small ones.
      for (const entry of pending) {
        if (!hasCapacity(entry.bytes)) return
        pending.delete(entry)
        entry.enter()
      }
    },
  }
}
