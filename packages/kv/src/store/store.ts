import type { Replica } from '@influencer-stats/log/replica'
import { roundToUnits } from '@influencer-stats/runtime/budget'
import type { Problem } from '@influencer-stats/runtime/problems'
import type { StoredEntry } from '../lines/entry-chunks.ts'
import type { StoredValue } from '../core/stored-value.ts'
import type { LoggedWrite } from '../core/encode-writes.ts'

/**
 * Changes that take effect together or not at all, in their order. A condition applies to the key of the first change.
 */
export interface KvWrite extends LoggedWrite {
  /** True if the reply must wait until the write survives a power cut. */
  readonly durable: boolean
}

/** Range of keys, and the entries to read from it. */
export interface KvRange {
  /** First key. */
  readonly start: Buffer
  /** First key after the range; without it, the range extends to the last key. */
  readonly end?: Buffer
  /** Maximum number of entries. */
  readonly limit?: number
  /** True for descending order, from the last key to the first. */
  readonly reverse?: boolean
  /** True if values are not read; they are empty in the result. */
  readonly keysOnly?: boolean
}

/** Iterates over entries in the order of their keys' bytes. */
export interface KvScan {
  /** Resolves with the next entries; an empty array at the end. */
  next(): Promise<readonly StoredEntry[]>
  /** Releases the iterators. Idempotent. */
  close(): Promise<void>
}

/** The entries at one moment. */
export interface KvSnapshot {
  /** Last sequence of the log whose changes it contains; absent in a standalone service. */
  readonly sequence?: number
  /** Same as `KvStore.findTimed`, at the moment of the snapshot. */
  find(key: Buffer): FoundValue | undefined
  scan(range: KvRange): KvScan
  /** Releases the snapshot, after all of its scans are closed. Idempotent. */
  close(): Promise<void>
}

/** Size of the queue of writes: those that are accepted but not complete. */
export interface WriteQueue {
  readonly bytes: number
  readonly writes: number
}

/**
 * Creates the reply to a write.
 * @param outcome one element of `Outcomes`
 * @param sequence sequence of the entry in the log; absent in a standalone service
 */
export type KvReply<T> = (outcome: string | undefined, sequence?: number) => T

/** A stored value and its expiry time (ms since 1970), if any. */
export interface FoundValue {
  readonly stored: StoredValue
  readonly expiresAt?: number | undefined
}

/** Store of byte values. Keys are UTF-8, in the order of their bytes. */
export interface KvStore {
  /**
   * State of this node's copy of the data. Absent in a standalone service, where a read always sees every write that
   * was acknowledged before. In a cluster other nodes write, too, so a read may have to wait for their writes.
   */
  readonly replica?: Replica
  /** True if the writes of this thread take effect in the order of the calls of `write` and `tryEnqueue`. */
  readonly isOrdered?: boolean
  /** Queue of writes, if the store has one. */
  readonly queue?: WriteQueue
  /** Returns the error with which the store refuses writes at present; undefined if it accepts them. */
  getFault?(): Problem | undefined
  /**
   * Returns a value with its revision; `undefined` if the key has none, or if it has expired. Synchronous:
   * `store/level-store.ts` has the reason.
   */
  find(key: string): StoredValue | undefined
  /** True if the database may contain values that expire. */
  isTimed(): boolean
  /** Returns the present time of the clock that decides which values have expired (ms since 1970). */
  now(): number
  /** Same as `find`, with the expiry time of the value. */
  findTimed(key: string): FoundValue | undefined
  /**
   * Writes, and resolves with the result of `toReply`. Every later read on any thread then sees the changes, and they
   * survive the end of this process (except in the store `memory`). If the condition did not hold, nothing is changed.
   * Conditions are evaluated and changes take effect one write after the other, across all threads. Each write has a
   * revision that no earlier write had, in this database or in one that it replaced.
   * @throws WRITE_QUEUE_FULL, MEMORY_FULL, DISK_FULL, STORE_FAILED; in a cluster also LOG_UNAVAILABLE, OUTCOME_UNKNOWN;
   * errors of `toReply`
   */
  write<T>(write: KvWrite, toReply: KvReply<T>): Promise<T>
  /**
   * Accepts a write whose result the caller does not need, if the queue has free capacity. If the write fails later, it
   * is only counted. Absent if the store has no queue or is a cluster node.
   * @returns true if the write was accepted
   * @throws DISK_FULL, STORE_FAILED
   */
  tryEnqueue?(write: KvWrite): boolean
  /** Takes a snapshot, which the caller must close. */
  snapshot(): KvSnapshot
  /**
   * Resolves once all earlier writes are visible to reads, or have failed. Absent if the store needs no such
   * wait.
   */
  waitUntilSettled?(): Promise<void>
  /** Completes the accepted writes. Idempotent. */
  close(): Promise<void>
}

/**
 * Returns the memory that a queued write takes (bytes), rounded up to units of 1 KiB: even the smallest write takes
 * hundreds of bytes.
 */
export function getWriteBytes({ ops }: KvWrite): number {
  let bytes = 0
  for (const op of ops) bytes += op.key.length + (op.type === 'put' ? op.value.length : 0)
  return roundToUnits(bytes)
}
