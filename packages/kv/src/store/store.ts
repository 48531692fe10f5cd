import type { Problem } from '@influencer-stats/runtime/problems'
import type { Condition } from '../core/condition.ts'
import type { Entry } from '../core/frames.ts'
import type { Op } from '../core/lines.ts'
import type { Stored } from '../core/stored.ts'

/** Changes that happen all or not at all, in their order. */
export interface Write {
  readonly ops: readonly Op[]
  /** What must be true of the value under the first change's key. */
  readonly condition?: Condition
  /** Answer only once it would survive a power cut. */
  readonly durable: boolean
}

/** Keys from `start` (inclusive) to `end` (exclusive; nothing: to the last), at most `limit`. */
export interface Range {
  readonly start: Buffer
  readonly end?: Buffer
  readonly limit?: number
}

/** A walk over the entries that were there when it began, in the order of their keys' bytes. */
export interface Scan {
  /** Some entries; none at the end. */
  next(): Promise<readonly Entry[]>
  /** Idempotent. */
  close(): Promise<void>
}

/** What waits to be written. */
export interface Queue {
  readonly bytes: number
  readonly writes: number
}

/** What becomes of a write: made of its revision, which its values have from then on, or of nothing where its condition did not hold. */
export type Answer<T> = (revision: string | undefined) => T

/** Bytes under keys, which are UTF-8, ordered bytewise. */
export interface Store {
  /** Its queue of writes, where it has one. */
  readonly queue?: Queue
  /** Why it takes no writes at present, where that may be. */
  fault?(): Problem | undefined
  /** A value and its revision. Synchronous: see `store/level.ts` for why. */
  find(key: string): Stored | undefined
  /**
   * Resolves when the changes are seen by every later read, on any thread, and outlive this process, or the condition
   * did not hold. Conditions and changes take effect one write after the other, whichever thread they are made on; each
   * write has a revision that none has had before, in this base or one that was kept in its place.
   * @throws WRITE_QUEUE_FULL, DISK_FULL, STORE_FAILED
   */
  write<T>(write: Write, answer: Answer<T>): Promise<T>
  scan(range: Range): Scan
  /** Finishes the writes it took. Idempotent. */
  close(): Promise<void>
}

/** Bytes that a write keeps waiting. */
export function bytesOf({ ops }: Write): number {
  let bytes = 0
  for (const op of ops) bytes += op.key.length + (op.type === 'put' ? op.value.length : 0)
  return bytes
}
