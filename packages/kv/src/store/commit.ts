import type { SharedLevel } from '@influencer-stats/runtime/shared-level'
import type { Level } from 'level'
import type { WriteRecorder } from '../watch/write-recorder.ts'
import type { TtlState } from './ttl.ts'
import type { WriteLimiter } from './write-limiter.ts'
import type { Revisions } from '../revisions.ts'
import type { KvReply, KvWrite } from './store.ts'
import type { KeyLocks } from './key-locks.ts'

export type KvDatabase = Level<Buffer, Buffer>
export type KvLevel = SharedLevel<Buffer, Buffer>

export interface CommitOptions {
  readonly level: KvLevel
  readonly limiter: WriteLimiter
  readonly revisions: Revisions
  /** Locks of keys; absent if this thread is the only one that writes. */
  readonly keyLocks?: KeyLocks
  /** Reports the writes to the main thread, for watch streams. */
  readonly recorder: WriteRecorder
  readonly ttl: TtlState
  /** Called after LevelDB has written a batch, with the number of its writes. */
  onCommit(writes: number): void
}

/** Turns submitted writes into batches of LevelDB. */
export interface Commit {
  /** True if writes take effect in the order of submission. */
  readonly isOrdered: boolean
  /**
   * Writes, and resolves with the result of `toReply` for the outcome. Releases `bytes` from the limiter once the write
   * has succeeded or failed.
   */
  submit<T>(write: KvWrite, bytes: number, toReply: KvReply<T>): Promise<T>
  /** Resolves once all earlier writes have succeeded or failed. */
  waitUntilSettled(): Promise<void>
  /** Resolves once no write is in progress, and every write is acknowledged or has failed. */
  waitUntilIdle(): Promise<void>
}
