import type { Judgement } from '../core/judge.ts'
import { dueKey, expiryKey, NEVER, timeBytes } from '../core/own-keys.ts'

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

export const expiryMemory = () => new SharedArrayBuffer(3 * BigInt64Array.BYTES_PER_ELEMENT)

// The words of the memory that all threads share: one of 32 bits, which reads test, and two of 64.
const IS_TIMED = 0
const FIRST_DUE = 1
const FLOOR = 2

/** A clock that is set back by at most so much does not go back for readers (ms). */
export const MAX_CLOCK_STEP_MS = 10_000

/** What all threads of a process know of values that expire. */
export class Expiring {
  readonly #words: Int32Array
  readonly #times: BigInt64Array

  constructor(memory: SharedArrayBuffer) {
    this.#words = new Int32Array(memory)
    this.#times = new BigInt64Array(memory)
  }

  /**
   * True if something may expire; it stays true. A plain read: a thread that holds a key's lock, or has read a value
   * from LevelDB, sees what was set before that value was written.
   */
  get isTimed(): boolean {
    return this.#words[IS_TIMED] === 1
  }

  /** To be called before anything that expires is written. */
  begin(): void {
    Atomics.store(this.#words, IS_TIMED, 1)
  }

  /** The clock of reads and conditions (ms since 1970). A key that was absent by it does not come back when the clock is set back. */
  now(): number {
    const now = Date.now()
    const floor = Number(Atomics.load(this.#times, FLOOR))
    return floor > now && floor - now <= MAX_CLOCK_STEP_MS ? floor : now
  }

  /** The same, for conditions: what is judged by it stays so. */
  judgementTime(): number {
    const now = this.now()
    this.raise(now)
    return now
  }

  /**
   * True if a value that expires at a time is absent; later reads on all threads see it so, too.
   * @param now as `now()` was before the expiry was read
   */
  isPast(expiresAt: number, now: number): boolean {
    if (expiresAt > now) return false
    this.raise(expiresAt)
    return true
  }

  /** From here on the clock of all threads is at least at this time. */
  raise(time: number): void {
    const next = BigInt(time)
    for (let floor = Atomics.load(this.#times, FLOOR); floor < next;) {
      const found = Atomics.compareExchange(this.#times, FLOOR, floor, next)
      if (found === floor) return
      floor = found
    }
  }

  /**
   * To be called after what expires was written, and reads see it, or the write failed. That order loses no key: the sweep
   * takes the time before it looks, so it either sees the key or finds the time lowered after its look.
   */
  wrote(expiries: Judgement['expiries']): void {
    let first = NEVER
    for (const { after = NEVER } of expiries?.values() ?? []) if (after < first) first = after
    if (first < NEVER) this.lowerFirstDue(first)
  }

  lowerFirstDue(time: number): void {
    const next = BigInt(time)
    for (let first = Atomics.load(this.#times, FIRST_DUE); first > next;) {
      const found = Atomics.compareExchange(this.#times, FIRST_DUE, first, next)
      if (found === first) return
      first = found
    }
  }

  /**
   * The time from which on keys may be due, where that has come. The caller then has to remove them, and to lower the
   * time to that of the first one that it leaves: until then no other thread finds anything due.
   */
  takeFirstDue(): number | undefined {
    if (Number(Atomics.load(this.#times, FIRST_DUE)) > this.now()) return undefined
    return Number(Atomics.exchange(this.#times, FIRST_DUE, BigInt(NEVER)))
  }

  /** To be called after the end of a thread: what it had taken, or written and not reported, is looked for from the beginning. */
  forgetFirstDue(): void {
    Atomics.store(this.#times, FIRST_DUE, 0n)
  }
}
