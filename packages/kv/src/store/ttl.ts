import type { WriteResult } from '../core/evaluate-writes.ts'
import { toDueKey, toExpiryKey, MAX_EXPIRY_MS, encodeTime } from '../core/internal-keys.ts'

/** Target of the rows of a batch. */
export interface BatchTarget {
  put(key: Buffer, value: Buffer): unknown
  del(key: Buffer): unknown
}

const EMPTY_VALUE = Buffer.alloc(0)

/** Adds the internal rows of evaluated writes to a batch: see `core/internal-keys.ts`. */
export function putInternalRows({ expiries, records }: WriteResult, batch: BatchTarget): void {
  if (!expiries) return
  for (const { key, before, after } of expiries.values()) {
    if (before === after) continue
    if (before !== undefined) batch.del(toDueKey(before, key))
    if (after === undefined) batch.del(toExpiryKey(key))
    else {
      batch.put(toExpiryKey(key), encodeTime(after))
      batch.put(toDueKey(after, key), EMPTY_VALUE)
    }
  }
  for (const [key, stored] of records ?? []) batch.put(key, stored)
}

export const createTtlMemory = () => new SharedArrayBuffer(3 * BigInt64Array.BYTES_PER_ELEMENT)

// Words of the shared memory: one of 32 bits, which reads test, and two of 64.
const IS_TIMED_INDEX = 0
const FIRST_DUE_INDEX = 1
const FLOOR_INDEX = 2

/** Largest backward step of the clock that readers do not see (ms). */
export const MAX_CLOCK_STEP_MS = 10_000

/** State that all threads of a process share about values that expire. */
export class TtlState {
  readonly #words: Int32Array
  readonly #times: BigInt64Array
  readonly #clock: () => number

  /** @param clock that values expire by (ms since 1970): the system clock, or the log's in a cluster */
  constructor(memory: SharedArrayBuffer, clock = () => Date.now()) {
    this.#clock = clock
    this.#words = new Int32Array(memory)
    this.#times = new BigInt64Array(memory)
  }

  /**
   * True if a value may expire; remains true. A plain read is enough: a thread that holds a key's lock, or has read a
   * value from LevelDB, sees a flag that was set before that value was written.
   */
  get isTimed(): boolean {
    return this.#words[IS_TIMED_INDEX] === 1
  }

  /** To be called before anything that expires is written. */
  enable(): void {
    Atomics.store(this.#words, IS_TIMED_INDEX, 1)
  }

  /**
   * Clock of reads and conditions (ms since 1970). An expired key remains absent when the clock is set back by up to 10
   * s.
   */
  now(): number {
    const now = this.#clock()
    const floor = Number(Atomics.load(this.#times, FLOOR_INDEX))
    return floor > now && floor - now <= MAX_CLOCK_STEP_MS ? floor : now
  }

  /**
   * Clock of conditions (ms since 1970). It raises the clock of all threads, so later reads agree with the evaluation.
   */
  getEvaluationTime(): number {
    const now = this.now()
    this.raiseFloor(now)
    return now
  }

  /**
   * True if a value that expires at a time is absent. Later reads on all threads then agree.
   * @param now result of `now()` from before the expiry was read
   */
  isPast(expiresAt: number, now: number): boolean {
    if (expiresAt > now) return false
    this.raiseFloor(expiresAt)
    return true
  }

  /** Raises the clock of all threads to at least this time. */
  raiseFloor(time: number): void {
    const next = BigInt(time)
    for (let floor = Atomics.load(this.#times, FLOOR_INDEX); floor < next;) {
      const found = Atomics.compareExchange(this.#times, FLOOR_INDEX, floor, next)
      if (found === floor) return
      floor = found
    }
  }

  /**
   * Lowers the first due time. To be called once reads see the write, or the write has failed. That order loses no key:
   * the sweep takes the time before it searches, so it either sees the key or finds the time lowered after its search.
   */
  onWritten(expiries: WriteResult['expiries']): void {
    let first = MAX_EXPIRY_MS
    for (const { after = MAX_EXPIRY_MS } of expiries?.values() ?? []) if (after < first) first = after
    if (first < MAX_EXPIRY_MS) this.lowerFirstDue(first)
  }

  lowerFirstDue(time: number): void {
    const next = BigInt(time)
    for (let first = Atomics.load(this.#times, FIRST_DUE_INDEX); first > next;) {
      const found = Atomics.compareExchange(this.#times, FIRST_DUE_INDEX, first, next)
      if (found === first) return
      first = found
    }
  }

  /**
   * Takes the time from which on keys may be due; `undefined` if that is in the future. The caller must then remove
   * these keys, and lower the time to that of the first key that it leaves. Until then no other thread finds a due key.
   */
  takeFirstDue(): number | undefined {
    if (Number(Atomics.load(this.#times, FIRST_DUE_INDEX)) > this.now()) return undefined
    return Number(Atomics.exchange(this.#times, FIRST_DUE_INDEX, BigInt(MAX_EXPIRY_MS)))
  }

  /**
   * Restarts the search from the beginning. Called after a thread ends, which may have taken a time or not reported a
   * write.
   */
  resetFirstDue(): void {
    Atomics.store(this.#times, FIRST_DUE_INDEX, 0n)
  }
}
