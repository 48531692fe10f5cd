import { hash, randomBytes } from 'node:crypto'

// 13 bits of a hash select a set of buckets; 32 more bits identify the client within the set.
const BUCKETS_PER_SET = 8
const SET_COUNT = 8_192
const BUCKET_COUNT = BUCKETS_PER_SET * SET_COUNT
const SEED_BYTES = 16

/** Memory in which all threads of a process count requests: 0.8 MB for any number of clients. */
export interface BucketMemory {
  /** Random, so that no other program can calculate which clients share a set. */
  readonly seed: Uint8Array
  /** For each bucket, a part of the hash of its client; 0 if the bucket is free. */
  readonly owners: Int32Array
  /** For each bucket, the time when it is full again (ns, the machine's steady clock). */
  readonly fullAt: BigInt64Array
}

export function createBucketMemory(): BucketMemory {
  return {
    seed: randomBytes(SEED_BYTES),
    owners: new Int32Array(new SharedArrayBuffer(BUCKET_COUNT * Int32Array.BYTES_PER_ELEMENT)),
    fullAt: new BigInt64Array(new SharedArrayBuffer(BUCKET_COUNT * BigInt64Array.BYTES_PER_ELEMENT)),
  }
}

/** Result of a take from a bucket. */
export interface TakeResult {
  readonly isAllowed: boolean
  /** Remaining requests. */
  readonly remaining: number
  /** Time until the bucket is full again (s). */
  readonly fullInS: number
  /** Time until the bucket contains the cost of the request (s); 0 if the request is allowed. */
  readonly retryAfterS: number
}

const toSeconds = (ns: bigint): number => Math.max(0, Math.ceil(Number(ns) / 1e9))

/**
 * Token buckets of one size and one refill time: one for each client, in bounded memory that all threads share. If a
 * set has no free bucket for a new client, that client takes over the fullest bucket of the set, which becomes full. If
 * it was full before, nothing is lost; otherwise its previous client starts again with a full bucket.
 */
export class TokenBuckets {
  readonly #memory: BucketMemory
  readonly #now: () => bigint
  readonly #windowNs: bigint
  readonly #nsPerRequest: bigint
  readonly #size: number

  /**
   * @param size number of requests that a full bucket allows
   * @param windowS time in which an empty bucket refills (s)
   * @param now returns the time (ns) of a clock that all threads share
   */
  constructor(memory: BucketMemory, size: number, windowS: number, now: () => bigint = process.hrtime.bigint) {
    this.#memory = memory
    this.#now = now
    this.#size = size
    this.#nsPerRequest = (BigInt(windowS) * 1_000_000_000n) / BigInt(size) || 1n
    this.#windowNs = this.#nsPerRequest * BigInt(size)
  }

  /**
   * Takes the cost from a client's bucket, or nothing if the bucket contains less. A cost above the size takes a whole
   * bucket.
   */
  take(client: string, cost: number): TakeResult {
    const { fullAt } = this.#memory
    const now = this.#now()
    const at = this.#findBucket(client, now)
    const costNs = this.#nsPerRequest * BigInt(Math.min(cost, this.#size))
    for (;;) {
      const known = Atomics.load(fullAt, at)
      const current = known > now ? known : now
      const next = current + costNs
      const over = next - now - this.#windowNs
      if (over > 0n) return this.#toResult(false, current - now, over)
      if (Atomics.compareExchange(fullAt, at, known, next) === known) return this.#toResult(true, next - now, 0n)
    }
  }

  #toResult(isAllowed: boolean, missing: bigint, over: bigint): TakeResult {
    const remaining = Number((this.#windowNs - missing) / this.#nsPerRequest)
    return { isAllowed, remaining, fullInS: toSeconds(missing), retryAfterS: toSeconds(over) }
  }

  /** Finds the client's bucket. It may have belonged to another client until now. */
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
