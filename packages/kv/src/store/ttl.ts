import type { WriteResult } from '../core/evaluate-writes.ts'
import { toDueKey, toExpiryKey, MAX_EXPIRY_MS, encodeTime } from '../core/internal-keys.ts'

/** Receiver of changed rows, such as a LevelDB batch. */
export interface BatchTarget {
  put(key: Buffer, value: Buffer): unknown
  del(key: Buffer): unknown
}

const EMPTY_VALUE = Buffer.alloc(0)

/** Adds the internal rows of evaluated writes to a batch: expiry times and records. See `core/internal-keys.ts`. */
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

// Positions in the shared memory. The first counts 32-bit words, the other two count 64-bit words.
/** 1 if values may expire. Every read tests this word. */
const IS_TIMED_INDEX = 0
/** Time before which no key is due (ms since 1970). */
const FIRST_DUE_INDEX = 1
/** Latest time that `TtlState.raiseFloor` received (ms since 1970). */
const FLOOR_INDEX = 2

/** Maximum backward step of the clock that `TtlState.now` hides (ms). */
export const MAX_CLOCK_STEP_MS = 10_000

/** State about values that expire, which all threads of a process share. */
export class TtlState {
  readonly #words: Int32Array
  readonly #times: BigInt64Array
  readonly #clock: () => number

  /** @param clock clock by which values expire (ms since 1970): the system clock, or the log's clock in a cluster */
  constructor(memory: SharedArrayBuffer, clock = () => Date.now()) {
    this.#clock = clock
    this.#words = new Int32Array(memory)
    this.#times = new BigInt64Array(memory)
  }

  /**
   * True if the database may contain values that expire. Once true, it remains true. A read without `Atomics` is
   * enough: a thread that holds the lock of a key, or has read a value from LevelDB, sees a flag that was set before
   * that value was written.
   */
  get isTimed(): boolean {
    return this.#words[IS_TIMED_INDEX] === 1
  }

  /** Sets `isTimed`. The caller must do so before it writes a value or a record that expires. */
  enable(): void {
    Atomics.store(this.#words, IS_TIMED_INDEX, 1)
  }

  /**
   * Returns the time for reads (ms since 1970). It is at least the latest time that `raiseFloor` received, unless the
   * clock was set back by more than 10 s. So a key that a read found expired remains absent.
   */
  now(): number {
    const now = this.#clock()
    const floor = Number(Atomics.load(this.#times, FLOOR_INDEX))
    return floor > now && floor - now <= MAX_CLOCK_STEP_MS ? floor : now
  }

  /**
   * Returns the time for the evaluation of writes (ms since 1970). It also raises the time of all threads to it, so
   * that later reads agree with the evaluation.
   */
  getEvaluationTime(): number {
    const now = this.now()
    this.raiseFloor(now)
    return now
  }

  /**
   * True if a value with this expiry time has expired. If so, it raises the time of all threads, so that later reads
   * agree.
   * @param expiresAt ms since 1970
   * @param now result of `now()` from before the expiry time was read
   */
  isPast(expiresAt: number, now: number): boolean {
    if (expiresAt > now) return false
    this.raiseFloor(expiresAt)
    return true
  }

  /** Raises the time of all threads to at least this time (ms since 1970). */
  raiseFloor(time: number): void {
    const next = BigInt(time)
    for (let floor = Atomics.load(this.#times, FLOOR_INDEX); floor < next;) {
      const found = Atomics.compareExchange(this.#times, FLOOR_INDEX, floor, next)
      if (found === floor) return
      floor = found
    }
  }

  /**
   * Lowers the first due time after a write. The caller must do so once reads see the write, or once it has failed.
   * This order loses no key: a sweep takes the first due time before it searches. So it either finds the key, or the
   * time is lowered after the sweep took it, and the next sweep finds the key.
   */
  onWritten(expiries: WriteResult['expiries']): void {
    let first = MAX_EXPIRY_MS
    for (const { after = MAX_EXPIRY_MS } of expiries?.values() ?? []) if (after < first) first = after
    if (first < MAX_EXPIRY_MS) this.lowerFirstDue(first)
  }

  /** Lowers the first due time to at most this time (ms since 1970). */
  lowerFirstDue(time: number): void {
    const next = BigInt(time)
    for (let first = Atomics.load(this.#times, FIRST_DUE_INDEX); first > next;) {
      const found = Atomics.compareExchange(this.#times, FIRST_DUE_INDEX, first, next)
      if (found === first) return
      first = found
    }
  }

  /**
   * Takes the first due time: keys may be due from it on. Returns `undefined` if it is in the future. The caller must
   * then remove the due keys, and call `lowerFirstDue` with the time of the first key that remains. Until then, the
   * sweeps of other threads find no key.
   */
  takeFirstDue(): number | undefined {
    if (Number(Atomics.load(this.#times, FIRST_DUE_INDEX)) > this.now()) return undefined
    return Number(Atomics.exchange(this.#times, FIRST_DUE_INDEX, BigInt(MAX_EXPIRY_MS)))
  }

  /**
   * Makes the next sweep search from the beginning. Called after a thread has ended: it may have taken the first due
   * time, or may have written without a call of `onWritten`.
   */
  resetFirstDue(): void {
    Atomics.store(this.#times, FIRST_DUE_INDEX, 0n)
  }
}
