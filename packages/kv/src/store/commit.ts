import type { SharedLevel } from '@influencer-stats/runtime/shared-level'
import type { ClassicLevel } from 'classic-level'
import type { WriteRecorder } from '../watch/write-recorder.ts'
import type { TtlState } from './ttl.ts'
import type { WriteLimiter } from './write-limiter.ts'
import type { Revisions } from './revisions.ts'
import type { KvReply, KvWrite } from './store.ts'
import type { KeyLocks } from './key-locks.ts'

export type KvDatabase = ClassicLevel<Buffer, Buffer>
export type KvLevel = SharedLevel<Buffer, Buffer>

export interface CommitOptions {
  readonly level: KvLevel
  readonly limiter: WriteLimiter
  readonly revisions: Revisions
  /** Nothing where this thread is the only one that writes. */
  readonly keyLocks?: KeyLocks
  /** Told what was written under which revisions. */
  readonly recorder: WriteRecorder
  readonly ttl: TtlState
  /** Told of every batch that LevelDB has written: of how many writes it was. */
  onCommit(writes: number): void
}

/** How writes that have come become batches of LevelDB. */
export interface Commit {
  /** True if writes take effect in the order of submission. */
  readonly isOrdered: boolean
  /** Resolves with what `answer` makes of the write's revision. `bytes` leave the gate when it has settled. */
  submit<T>(write: KvWrite, bytes: number, toReply: KvReply<T>): Promise<T>
  /** Resolves once what was submitted before is written, or is not. */
  waitUntilSettled(): Promise<void>
  /** Resolves once nothing is being written. */
  waitUntilIdle(): Promise<void>
}
