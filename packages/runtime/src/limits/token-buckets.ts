import { hash, randomBytes } from 'node:crypto'

// A bucket is found by 32 bits of a hash among the few that share a place; 13 more bits choose the place.
const BUCKETS_PER_SET = 8
const SET_COUNT = 8_192
const BUCKET_COUNT = BUCKETS_PER_SET * SET_COUNT
const SEED_BYTES = 16

/** What all threads of a process count in, whoever asks: 0.8 MB. */
export interface BucketMemory {
  /** Nobody outside can say which clients share a place. */
  readonly seed: Uint8Array
  /** Whose a bucket is; 0 for nobody's. */
  readonly owners: Int32Array
  /** When a bucket will be full again (ns, of the machine's steady clock). */
  readonly fullAt: BigInt64Array
}

export function createBucketMemory(): BucketMemory {
  return {
    seed: randomBytes(SEED_BYTES),
    owners: new Int32Array(new SharedArrayBuffer(BUCKET_COUNT * Int32Array.BYTES_PER_ELEMENT)),
    fullAt: new BigInt64Array(new SharedArrayBuffer(BUCKET_COUNT * BigInt64Array.BYTES_PER_ELEMENT)),
  }
}

/** What came of taking from a bucket. */
export interface TakeResult {
  readonly isAllowed: boolean
  /** Requests that are left. */
  readonly remaining: number
  /** Until the bucket is full again (s). */
  readonly fullInS: number
  /** Until there is as much as was asked for (s); 0 where there was. */
  readonly retryAfterS: number
}

const toSeconds = (ns: bigint): number => Math.max(0, Math.ceil(Number(ns) / 1e9))

/**
 * Buckets of so many requests each, which fill up again within a time: one for each client, in memory that is bounded and
 * that all threads share. Where more clients than there are buckets ask, the fullest makes room, which is as good as new.
 */
export class TokenBuckets {
  readonly #memory: BucketMemory
  readonly #now: () => bigint
  readonly #windowNs: bigint
  readonly #nsPerRequest: bigint
  readonly #size: number

  /** @param size requests @param windowNs in which an empty one fills up (s) @param now ns, the same clock for all threads */
  constructor(memory: BucketMemory, size: number, windowNs: number, now: () => bigint = process.hrtime.bigint) {
    this.#memory = memory
    this.#now = now
    this.#size = size
    this.#nsPerRequest = (BigInt(windowNs) * 1_000_000_000n) / BigInt(size) || 1n
    this.#windowNs = this.#nsPerRequest * BigInt(size)
  }

  /** Takes so much from a client's bucket, or nothing where that is not there. One that is larger than a bucket takes it whole. */
  take(client: string, cost: number): TakeResult {
    const { fullAt } = this.#memory
    const now = this.#now()
    const at = this.#findBucket(client, now)
    const price = this.#nsPerRequest * BigInt(Math.min(cost, this.#size))
    for (;;) {
      const known = Atomics.load(fullAt, at)
      const begins = known > now ? known : now
      const next = begins + price
      const over = next - now - this.#windowNs
      if (over > 0n) return this.#toResult(false, begins - now, over)
      if (Atomics.compareExchange(fullAt, at, known, next) === known) return this.#toResult(true, next - now, 0n)
    }
  }

  #toResult(isAllowed: boolean, missing: bigint, over: bigint): TakeResult {
    const remaining = Number((this.#windowNs - missing) / this.#nsPerRequest)
    return { isAllowed, remaining, fullInS: toSeconds(missing), retryAfterS: toSeconds(over) }
  }

  /** The client's bucket, which may have been somebody else's until now. */
  #findBucket(client: string, now: bigint): number {
    const { seed, owners, fullAt } = this.#memory
    const digest = hash('sha256', Buffer.concat([seed, Buffer.from(client)]), 'buffer')
    const owner = digest.readInt32LE() || 1
    const first = (digest.readUInt32LE(4) % SET_COUNT) * BUCKETS_PER_SET
    for (;;) {
      let fullest = first
      let best = Atomics.load(fullAt, first)
      for (let at = first; at < first + BUCKETS_PER_SET; at++) {
        if (Atomics.load(owners, at) === owner) return at
        const time = Atomics.load(fullAt, at)
        if (time < best) [fullest, best] = [at, time]
      }
      const before = Atomics.load(owners, fullest)
      if (Atomics.compareExchange(owners, fullest, before, owner) !== before) continue
      Atomics.store(fullAt, fullest, now)
      return fullest
    }
  }
}
