import type { Budget } from '@influencer-stats/runtime/budget'
import { memoryFull } from '@influencer-stats/runtime/errors'
import { errors } from '../errors.ts'
import type { Queue } from './store.ts'

export interface GateOptions {
  /** Most bytes and most writes that wait to be written. */
  readonly maxBytes: number
  readonly maxWrites: number
  /** How long a write waits for room (ms). */
  readonly timeout: number
  /** What all that waits is taken from, in the queue or for room in it. */
  readonly budget?: Budget
}

/** Keeps the queue of writes bounded: LevelDB refuses nothing, so without it a slow disk would fill the memory. */
export interface Gate extends Queue {
  /** Whether there is room, which is then taken: for who does not wait for it. */
  tryEnter(bytes: number): boolean
  /**
   * Waits for free capacity, takes it and starts a write at that moment, before any later write can enter.
   * @param bytes in whole units of the budget. @throws MEMORY_FULL at once, WRITE_QUEUE_FULL after the time-out
   */
  wait<T>(bytes: number, start: () => T | Promise<T>): Promise<T>
  /** Of so many writes that have settled. */
  leave(bytes: number, writes: number): void
}

interface Waiting {
  readonly bytes: number
  readonly enter: () => void
}

export function createGate({ maxBytes, maxWrites, timeout, budget }: GateOptions): Gate {
  const waiting = new Set<Waiting>()
  let bytes = 0
  let writes = 0

  // What is larger than the whole queue is let in alone.
  const hasRoom = (more: number) => writes === 0 || (writes < maxWrites && bytes + more <= maxBytes)

  function take(more: number): void {
    bytes += more
    writes++
  }

  function wait<T>(more: number, start: () => T | Promise<T>): Promise<T> {
    if (budget?.take(more) === false) return Promise.reject(memoryFull())
    return new Promise((resolve, reject) => {
      const timer = setTimeout(() => {
        waiting.delete(one)
        budget?.give(more)
        const seconds = String(Math.ceil(timeout / 1000))
        reject(errors.WRITE_QUEUE_FULL(undefined, { headers: { 'retry-after': seconds } }))
      }, timeout)
      const one: Waiting = {
        bytes: more,
        enter() {
          clearTimeout(timer)
          take(more)
          resolve(start())
        },
      }
      waiting.add(one)
    })
  }

  function tryEnter(more: number): boolean {
    if (waiting.size > 0 || !hasRoom(more) || budget?.take(more) === false) return false
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
    wait,
    leave(less, settled) {
      bytes -= less
      writes -= settled
      budget?.give(less)
      // In their order: a large one is not overtaken for ever by small ones.
      for (const one of waiting) {
        if (!hasRoom(one.bytes)) return
        waiting.delete(one)
        one.enter()
      }
    },
  }
}
