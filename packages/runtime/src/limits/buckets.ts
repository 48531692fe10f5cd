import { hash, randomBytes } from 'node:crypto'

// A bucket is found by 32 bits of a hash among the few that share a place; 13 more bits choose the place.
const WAYS = 8
const PLACES = 8_192
const BUCKETS = WAYS * PLACES
const SEED = 16

/** What all threads of a process count in, whoever asks: 0.8 MB. */
export interface BucketMemory {
  /** Nobody outside can say which clients share a place. */
  readonly seed: Uint8Array
  /** Whose a bucket is; 0 for nobody's. */
  readonly owners: Int32Array
  /** When a bucket will be full again (ns, of the machine's steady clock). */
  readonly fullAt: BigInt64Array
}

export function bucketMemory(): BucketMemory {
  return {
    seed: randomBytes(SEED),
    owners: new Int32Array(new SharedArrayBuffer(BUCKETS * Int32Array.BYTES_PER_ELEMENT)),
    fullAt: new BigInt64Array(new SharedArrayBuffer(BUCKETS * BigInt64Array.BYTES_PER_ELEMENT)),
  }
}

/** What came of taking from a bucket. */
export interface Taken {
  readonly isEnough: boolean
  /** Requests that are left. */
  readonly left: number
  /** Until the bucket is full again (s). */
  readonly fullIn: number
  /** Until there is as much as was asked for (s); 0 where there was. */
  readonly enoughIn: number
}

const inSeconds = (ns: bigint): number => Math.max(0, Math.ceil(Number(ns) / 1e9))

/**
 * Buckets of so many requests each, which fill up again within a time: one for each client, in memory that is bounded and
 * that all threads share. Where more clients than there are buckets ask, the fullest makes room, which is as good as new.
 */
export class Buckets {
  readonly #memory: BucketMemory
  readonly #now: () => bigint
  readonly #window: bigint
  readonly #each: bigint
  readonly #size: number

  /** @param size requests @param window in which an empty one fills up (s) @param now ns, the same clock for all threads */
  constructor(memory: BucketMemory, size: number, window: number, now: () => bigint = process.hrtime.bigint) {
    this.#memory = memory
    this.#now = now
    this.#size = size
    this.#each = (BigInt(window) * 1_000_000_000n) / BigInt(size) || 1n
    this.#window = this.#each * BigInt(size)
  }

  /** Takes so much from a client's bucket, or nothing where that is not there. One that is larger than a bucket takes it whole. */
  take(client: string, cost: number): Taken {
    const { fullAt } = this.#memory
    const now = this.#now()
    const at = this.#bucketOf(client, now)
    const price = this.#each * BigInt(Math.min(cost, this.#size))
    for (;;) {
      const known = Atomics.load(fullAt, at)
      const begins = known > now ? known : now
      const next = begins + price
      const over = next - now - this.#window
      if (over > 0n) return this.#taken(false, begins - now, over)
      if (Atomics.compareExchange(fullAt, at, known, next) === known) return this.#taken(true, next - now, 0n)
    }
  }

  #taken(isEnough: boolean, missing: bigint, over: bigint): Taken {
    const left = Number((this.#window - missing) / this.#each)
    return { isEnough, left, fullIn: inSeconds(missing), enoughIn: inSeconds(over) }
  }

  /** The client's bucket, which may have been somebody else's until now. */
  #bucketOf(client: string, now: bigint): number {
    const { seed, owners, fullAt } = this.#memory
    const digest = hash('sha256', Buffer.concat([seed, Buffer.from(client)]), 'buffer')
    const owner = digest.readInt32LE() || 1
    const first = (digest.readUInt32LE(4) % PLACES) * WAYS
    for (;;) {
      let fullest = first
      let best = Atomics.load(fullAt, first)
      for (let at = first; at < first + WAYS; at++) {
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
