import type { Replica } from '@influencer-stats/log/replica'
import { roundToUnits } from '@influencer-stats/runtime/budget'
import type { Problem } from '@influencer-stats/runtime/problems'
import type { StoredEntry } from '../core/entry-chunks.ts'
import type { StoredValue } from '../core/stored-value.ts'
import type { LoggedWrite } from '../core/encode-writes.ts'

/** Changes that happen all or not at all, in their order; a condition is on the value under the first one's key. */
export interface KvWrite extends LoggedWrite {
  /** Answer only once it would survive a power cut. */
  readonly durable: boolean
}

/** Keys from `start` (inclusive) to `end` (exclusive; nothing: to the last), at most `limit`. */
export interface KvRange {
  readonly start: Buffer
  readonly end?: Buffer
  readonly limit?: number
  /** Descending order, from the last key to the first. */
  readonly reverse?: boolean
  /** Values are not read, and are empty. */
  readonly keysOnly?: boolean
}

/** Iterates over entries in the order of their keys' bytes. */
export interface KvScan {
  /** Some entries; none at the end. */
  next(): Promise<readonly StoredEntry[]>
  /** Idempotent. */
  close(): Promise<void>
}

/** The entries at one moment. */
export interface KvSnapshot {
  /** Sequence number up to which it contains the log; absent without a log. */
  readonly sequence?: number
  /** Returns a value that had not expired, like `Store.findTimed`. Synchronous. */
  find(key: Buffer): FoundValue | undefined
  scan(range: KvRange): KvScan
  /** Releases the snapshot, after all of its scans are closed. Idempotent. */
  close(): Promise<void>
}

/** What waits to be written. */
export interface WriteQueue {
  readonly bytes: number
  readonly writes: number
}

/**
 * What becomes of a write: made of its revision, which its values have from then on, or of what is in its place
 * (`Outcomes`); and of its place in the log, where there is one.
 */
export type KvReply<T> = (revision: string | undefined, sequence?: number) => T

/** A stored value and its expiry time (ms since 1970), if any. */
export interface FoundValue {
  readonly stored: StoredValue
  readonly expiresAt?: number | undefined
}

/** Bytes under keys, which are UTF-8, ordered bytewise. */
export interface KvStore {
  /** Where other machines write, too. Without it every read sees all that was acknowledged before. */
  readonly replica?: Replica
  /** True if writes of this thread take effect in the order of the calls of `write` and `take`, except writes that fail. */
  readonly isOrdered?: boolean
  /** Its queue of writes, where it has one. */
  readonly queue?: WriteQueue
  /** Why it takes no writes at present, where that may be. */
  getFault?(): Problem | undefined
  /** Returns a value that has not expired, and its revision. Synchronous: see `store/level.ts` for the reason. */
  find(key: string): StoredValue | undefined
  /** True if a value may expire. */
  isTimed(): boolean
  /** Clock that values expire by (ms since 1970). */
  now(): number
  /** Returns the result of `find` with its expiry time. */
  findTimed(key: string): FoundValue | undefined
  /**
   * Resolves when the changes are seen by every later read, on any thread, and outlive this process, or the condition
   * did not hold. Conditions and changes take effect one write after the other, whichever thread they are made on; each
   * write has a revision that none has had before, in this base or one that was kept in its place.
   * @throws WRITE_QUEUE_FULL, MEMORY_FULL, DISK_FULL, STORE_FAILED
   */
  write<T>(write: KvWrite, toReply: KvReply<T>): Promise<T>
  /**
   * Takes a write that nobody waits for, where there is room for it in the queue; those of a thread take effect in their
   * order. One that fails later is counted, and told to nobody. @returns whether it was taken. @throws DISK_FULL, STORE_FAILED
   */
  tryEnqueue?(write: KvWrite): boolean
  snapshot(): KvSnapshot
  /** Resolves once the writes that came before it are seen by reads, or failed; where a service runs alone. */
  waitUntilSettled?(): Promise<void>
  /** Finishes the writes it took. Idempotent. */
  close(): Promise<void>
}

/** What a write keeps waiting (bytes, in whole units of the budget: the shortest costs hundreds). */
export function getWriteBytes({ ops }: KvWrite): number {
  let bytes = 0
  for (const op of ops) bytes += op.key.length + (op.type === 'put' ? op.value.length : 0)
  return roundToUnits(bytes)
}
