/** Number of calls of the stand-in, and of their ids. */
export interface CallCounts {
  readonly calls: number
  readonly ids: number
}

/** The common counts of all threads. They are exact, because every step is one atomic operation on shared memory. */
export interface Meter {
  count(ids: bigint): void
  readonly counts: CallCounts
  resetCounts(): void
  /**
   * Takes one unit of quota.
   * @returns true if there was one
   */
  takeQuota(): boolean
  /** Remaining units; undefined if there is no limit. */
  readonly quotaLeft: number | undefined
  setQuota(units: number | undefined): void
  /** Returns the number, from 0, of a call that might fail. */
  nextDraw(): number
  restartDraws(): void
}

const CALLS = 0
const IDS = 1
const QUOTA_LEFT = 0
const DRAWS = 1
const NO_LIMIT = -1

// Two 64-bit counts (32 bits overflow after 15 hours at 40,000 calls/s), then two 32-bit numbers.
const COUNTS_BYTES = 16
const METER_BYTES = COUNTS_BYTES + 8

/** Allocates the memory of a meter. */
export function createMeterMemory(): SharedArrayBuffer {
  return new SharedArrayBuffer(METER_BYTES)
}

/** Creates one thread's view of a meter. */
export function createMeter(memory: SharedArrayBuffer): Meter {
  const totals = new BigInt64Array(memory, 0, 2)
  const numbers = new Int32Array(memory, COUNTS_BYTES, 2)

  return {
    count(ids) {
      Atomics.add(totals, CALLS, 1n)
      Atomics.add(totals, IDS, ids)
    },
    get counts() {
      return { calls: Number(Atomics.load(totals, CALLS)), ids: Number(Atomics.load(totals, IDS)) }
    },
    resetCounts() {
      Atomics.store(totals, CALLS, 0n)
      Atomics.store(totals, IDS, 0n)
    },
    takeQuota() {
      for (;;) {
        const left = Atomics.load(numbers, QUOTA_LEFT)
        if (left === NO_LIMIT) return true
        if (left === 0) return false
        // Another thread may have taken the unit meanwhile.
        if (Atomics.compareExchange(numbers, QUOTA_LEFT, left, left - 1) === left) return true
      }
    },
    get quotaLeft() {
      const left = Atomics.load(numbers, QUOTA_LEFT)
      return left === NO_LIMIT ? undefined : left
    },
    setQuota: (units = NO_LIMIT) => void Atomics.store(numbers, QUOTA_LEFT, units),
    nextDraw: () => Atomics.add(numbers, DRAWS, 1) >>> 0,
    restartDraws: () => void Atomics.store(numbers, DRAWS, 0),
  }
}
