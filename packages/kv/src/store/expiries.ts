import type { Judgement } from '../core/judge.ts'
import { dueKey, expiryKey, timeBytes } from '../core/own-keys.ts'

/** What of a batch is written to. */
export interface Target {
  put(key: Buffer, value: Buffer): unknown
  del(key: Buffer): unknown
}

const NOTHING = Buffer.alloc(0)

/** Puts what the service itself is to know of judged writes beside what they change: see `core/own-keys.ts`. */
export function putOwn({ expiries, records }: Judgement, batch: Target): void {
  if (!expiries) return
  for (const { key, before, after } of expiries.values()) {
    if (before === after) continue
    if (before !== undefined) batch.del(dueKey(before, key))
    if (after === undefined) batch.del(expiryKey(key))
    else {
      batch.put(expiryKey(key), timeBytes(after))
      batch.put(dueKey(after, key), NOTHING)
    }
  }
  for (const [key, stored] of records ?? []) batch.put(key, stored)
}

export const expiryMemory = () => new SharedArrayBuffer(2 * Int32Array.BYTES_PER_ELEMENT)

// The words of the memory that all threads share.
const IS_TIMED = 0
const SWEPT = 1

/** Whether something in a base may expire, as all threads of a process know it: once true it stays so. */
export class Expiring {
  readonly #words: Int32Array

  constructor(memory: SharedArrayBuffer) {
    this.#words = new Int32Array(memory)
  }

  /** Read as it is: who holds a key's lock sees what the holder before has set. */
  get isTimed(): boolean {
    return this.#words[IS_TIMED] === 1
  }

  /** To be called before anything that expires is written. */
  begin(): void {
    Atomics.store(this.#words, IS_TIMED, 1)
  }

  /** Whether the caller is to take away what has expired in this time: one of all threads is. @param tick counts times */
  claims(tick: number): boolean {
    const last = Atomics.load(this.#words, SWEPT)
    return last !== tick && Atomics.compareExchange(this.#words, SWEPT, last, tick) === last
  }
}
