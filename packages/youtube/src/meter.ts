/** Number of calls that the stand-in received. */
export interface CallCounts {
  /** Calls of all methods. */
  readonly calls: number
  /** Video ids in the calls of `videos.list`. */
  readonly ids: number
  /** Calls of the other methods. */
  readonly channels: number
  readonly playlists: number
  readonly playlistItems: number
}

// Positions of the 64-bit counts.
const CALLS_INDEX = 0
const COUNT_INDEXES = { videos: 1, channels: 2, playlists: 3, playlistItems: 4 } as const
const COUNTS = 5
// Positions of the 32-bit numbers.
const QUOTA_LEFT_INDEX = 0
const FAULT_INDEX = 1
const NO_LIMIT = -1

// The memory has the 64-bit counts, then two 32-bit numbers. A count of 32 bits (signed) would overflow after 15
// hours at 40,000 calls/s.
const COUNTS_BYTES = 8 * COUNTS
const METER_BYTES = COUNTS_BYTES + 8

/**
 * Counts and quota that all threads share. They are exact, because every change of a number is one atomic operation on
 * shared memory.
 */
export class Meter {
  /** Memory that all threads share. */
  readonly memory: SharedArrayBuffer
  readonly #totals: BigInt64Array
  readonly #numbers: Int32Array

  constructor(memory = new SharedArrayBuffer(METER_BYTES)) {
    this.memory = memory
    this.#totals = new BigInt64Array(memory, 0, COUNTS)
    this.#numbers = new Int32Array(memory, COUNTS_BYTES, 2)
  }

  /** Counts a call. @param ids number of video ids in a call of `videos.list` */
  count(resource: keyof typeof COUNT_INDEXES, ids: bigint): void {
    Atomics.add(this.#totals, CALLS_INDEX, 1n)
    Atomics.add(this.#totals, COUNT_INDEXES[resource], resource === 'videos' ? ids : 1n)
  }

  get counts(): CallCounts {
    const read = (index: number) => Number(Atomics.load(this.#totals, index))
    const { videos: ids, ...others } = COUNT_INDEXES
    const counts = Object.fromEntries(Object.entries(others).map(([name, index]) => [name, read(index)]))
    return { calls: read(CALLS_INDEX), ids: read(ids), ...(counts as Record<keyof typeof others, number>) }
  }

  resetCounts(): void {
    for (let i = 0; i < COUNTS; i++) Atomics.store(this.#totals, i, 0n)
  }

  /**
   * Takes one call from the quota.
   * @returns false if the quota is exhausted
   */
  takeQuota(): boolean {
    for (;;) {
      const left = Atomics.load(this.#numbers, QUOTA_LEFT_INDEX)
      if (left === NO_LIMIT) return true
      if (left === 0) return false
      // If another thread has changed the number meanwhile, the loop tries again.
      if (Atomics.compareExchange(this.#numbers, QUOTA_LEFT_INDEX, left, left - 1) === left) return true
    }
  }

  /** Remaining calls of the quota; undefined if there is no limit. */
  get quotaLeft(): number | undefined {
    const left = Atomics.load(this.#numbers, QUOTA_LEFT_INDEX)
    return left === NO_LIMIT ? undefined : left
  }

  setQuota(calls = NO_LIMIT): void {
    Atomics.store(this.#numbers, QUOTA_LEFT_INDEX, calls)
  }

  /**
   * Returns the next serial number (from 0) for a call to which `errorRate` applies. From this number `isFailing`
   * decides if the call fails, so that the failures are evenly spaced over all threads.
   */
  nextFaultIndex(): number {
    return Atomics.add(this.#numbers, FAULT_INDEX, 1) >>> 0
  }

  /** Makes 0 the next serial number. */
  resetFaultIndex(): void {
    Atomics.store(this.#numbers, FAULT_INDEX, 0)
  }
}
