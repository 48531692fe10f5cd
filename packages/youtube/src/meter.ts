/** Number of calls that the stand-in received, and of the video ids in them. */
export interface CallCounts {
  readonly calls: number
  readonly ids: number
}

/**
 * Counts and quota that all threads share. They are exact, because every change of a number is one atomic operation on
 * shared memory.
 */
export interface Meter {
  /** Counts a call. @param ids number of video ids in the call */
  count(ids: bigint): void
  readonly counts: CallCounts
  resetCounts(): void
  /**
   * Takes one call from the quota.
   * @returns false if the quota is exhausted
   */
  takeQuota(): boolean
  /** Remaining calls of the quota; undefined if there is no limit. */
  readonly quotaLeft: number | undefined
  setQuota(calls: number | undefined): void
  /**
   * Returns the next serial number (from 0) for a call to which `errorRate` applies. From this number `isFailing`
   * decides if the call fails, so that the failures are evenly spaced over all threads.
   */
  nextFaultIndex(): number
  /** Makes 0 the next serial number. */
  resetFaultIndex(): void
}

// Positions of the 64-bit counts.
const CALLS_INDEX = 0
const IDS_INDEX = 1
// Positions of the 32-bit numbers.
const QUOTA_LEFT_INDEX = 0
const FAULT_INDEX = 1
const NO_LIMIT = -1

// The memory has two 64-bit counts, then two 32-bit numbers. A count of 32 bits (signed) would overflow after 15
// hours at 40,000 calls/s.
const COUNTS_BYTES = 16
const METER_BYTES = COUNTS_BYTES + 8

/** Allocates the memory of a meter. */
export function createMeterMemory(): SharedArrayBuffer {
  return new SharedArrayBuffer(METER_BYTES)
}

/** Creates the access of one thread to a meter. */
export function createMeter(memory: SharedArrayBuffer): Meter {
  const totals = new BigInt64Array(memory, 0, 2)
  const numbers = new Int32Array(memory, COUNTS_BYTES, 2)

  return {
    count(ids) {
      Atomics.add(totals, CALLS_INDEX, 1n)
      Atomics.add(totals, IDS_INDEX, ids)
    },
    get counts() {
      return { calls: Number(Atomics.load(totals, CALLS_INDEX)), ids: Number(Atomics.load(totals, IDS_INDEX)) }
    },
    resetCounts() {
      Atomics.store(totals, CALLS_INDEX, 0n)
      Atomics.store(totals, IDS_INDEX, 0n)
    },
    takeQuota() {
      for (;;) {
        const left = Atomics.load(numbers, QUOTA_LEFT_INDEX)
        if (left === NO_LIMIT) return true
        if (left === 0) return false
        // If another thread has changed the number meanwhile, the loop tries again.
        if (Atomics.compareExchange(numbers, QUOTA_LEFT_INDEX, left, left - 1) === left) return true
      }
    },
    get quotaLeft() {
      const left = Atomics.load(numbers, QUOTA_LEFT_INDEX)
      return left === NO_LIMIT ? undefined : left
    },
    setQuota: (calls = NO_LIMIT) => void Atomics.store(numbers, QUOTA_LEFT_INDEX, calls),
    nextFaultIndex: () => Atomics.add(numbers, FAULT_INDEX, 1) >>> 0,
    resetFaultIndex: () => void Atomics.store(numbers, FAULT_INDEX, 0),
  }
}
