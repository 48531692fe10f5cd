import type { Problem } from '@influencer-stats/runtime/problems'
import type { Condition } from '../core/condition.ts'
import type { Entry } from '../core/frames.ts'
import type { Op } from '../core/lines.ts'

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

/** A value: a string where it is UTF-8 and was had as one, else its bytes. */
export type Found = string | Buffer

/** Bytes under keys, which are UTF-8, ordered bytewise. */
export interface Store {
  /** Its queue of writes, where it has one. */
  readonly queue?: Queue
  /** Why it takes no writes at present, where that may be. */
  fault?(): Problem | undefined
  /** Synchronous: see `store/level.ts` for why. */
  get(key: Buffer): Buffer | undefined
  /** The same for the hottest requests, which need no more than to send it: cheaper where keys and values are text. */
  find(key: string): Found | undefined
  /**
   * Resolves with whether the condition held; then the changes are seen by every later read, on any thread, and outlive
   * this process. Conditions and changes take effect one write after the other, whichever thread they are made on.
   * @throws WRITE_QUEUE_FULL, DISK_FULL, STORE_FAILED
   */
  write(write: Write): Promise<boolean>
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
