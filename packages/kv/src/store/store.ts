import type { Replica } from '@influencer-stats/log/replica'
import { roundToUnits } from '@influencer-stats/runtime/budget'
import type { Problem } from '@influencer-stats/runtime/problems'
import type { StoredEntry } from '../core/entry-chunks.ts'
import type { StoredValue } from '../core/stored-value.ts'
import type { LoggedWrite } from '../core/encode-writes.ts'

/**
 * Changes that take effect together or not at all, in their order. A condition applies to the key of the first change.
 */
export interface KvWrite extends LoggedWrite {
  /** True if the reply must wait until the write survives a power cut. */
  readonly durable: boolean
}

/** Keys from `start` (inclusive) to `end` (exclusive; without it, to the last key), at most `limit`. */
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
  /** Returns a value that had not expired, like `KvStore.findTimed`. Synchronous. */
  find(key: Buffer): FoundValue | undefined
  scan(range: KvRange): KvScan
  /** Releases the snapshot, after all of its scans are closed. Idempotent. */
  close(): Promise<void>
}

/** Size of the queue of writes. */
export interface WriteQueue {
  readonly bytes: number
  readonly writes: number
}

/**
 * Creates the reply to a write. `revision` is the revision of its values, or another outcome of `Outcomes`. `sequence`
 * is the number of the entry in the log, if there is a log.
 */
export type KvReply<T> = (revision: string | undefined, sequence?: number) => T

/** A stored value and its expiry time (ms since 1970), if any. */
export interface FoundValue {
  readonly stored: StoredValue
  readonly expiresAt?: number | undefined
}

/** Store of byte values. Keys are UTF-8, in the order of their bytes. */
export interface KvStore {
  /** Present in a cluster, where other nodes write, too. Without it a read sees every write acknowledged before. */
  readonly replica?: Replica
  /**
   * True if writes of this thread take effect in the order of `write` and `tryEnqueue` calls, except writes that fail.
   */
  readonly isOrdered?: boolean
  /** Queue of writes, if the store has one. */
  readonly queue?: WriteQueue
  /** Returns the reason for which the store accepts no writes at present, if any. */
  getFault?(): Problem | undefined
  /** Returns a value that has not expired, and its revision. Synchronous: see `store/level-store.ts` for the reason. */
  find(key: string): StoredValue | undefined
  /** True if a value may expire. */
  isTimed(): boolean
  /** Clock that values expire by (ms since 1970). */
  now(): number
  /** Returns the result of `find` with its expiry time. */
  findTimed(key: string): FoundValue | undefined
  /**
   * Resolves when every later read on any thread sees the changes, and they survive the end of this process; or when
   * the condition did not hold. Conditions and changes take effect one write after the other, across all threads. Each
   * write has a revision that no earlier write had, in this database or in one that it replaced.
   * @throws WRITE_QUEUE_FULL, MEMORY_FULL, DISK_FULL, STORE_FAILED
   */
  write<T>(write: KvWrite, toReply: KvReply<T>): Promise<T>
  /**
   * Accepts a write without a result, if the queue has free capacity. Such writes of a thread take effect in their
   * order. A later failure is counted, and not reported. @returns true if the write was accepted. @throws DISK_FULL,
   * STORE_FAILED
   */
  tryEnqueue?(write: KvWrite): boolean
  snapshot(): KvSnapshot
  /** Resolves once reads see all earlier writes, or those have failed. For a standalone service. */
  waitUntilSettled?(): Promise<void>
  /** Completes the accepted writes. Idempotent. */
  close(): Promise<void>
}

/** Memory of a queued write (bytes, in whole units of the budget: the shortest write costs hundreds). */
export function getWriteBytes({ ops }: KvWrite): number {
  let bytes = 0
  for (const op of ops) bytes += op.key.length + (op.type === 'put' ? op.value.length : 0)
  return roundToUnits(bytes)
}
