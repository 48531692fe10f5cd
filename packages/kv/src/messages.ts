import type { LevelShare } from '@influencer-stats/runtime/level-health'
import type { ChangePage } from './core/change-pages.ts'
import type { Outcomes } from './core/evaluate-writes.ts'

/** What a thread is started with. */
export interface KvSharedState {
  /** Its part in the database, where there is one. */
  readonly share?: LevelShare
  /** What numbers writes. */
  readonly revisions: SharedArrayBuffer
  /** State that threads share about values that expire (`store/expiries.ts`). */
  readonly ttlMemory: SharedArrayBuffer
  /** The locks of keys and this thread's number among their owners, where several threads may write. */
  readonly stripes?: { readonly memory: SharedArrayBuffer; readonly owner: number }
  /** Whether somebody watches, where this process gives the order (`watch/recorder.ts`). */
  readonly recording?: SharedArrayBuffer
  /** How far the log is, where there is one that many machines share (`store/log-state.ts`). */
  readonly logState?: SharedArrayBuffer
}

/** What became of a turn's writes. */
export interface LogResult {
  /** Their place in the log. */
  readonly sequence: number
  readonly outcomes: Outcomes
}

/** What threads ask of main. */
export type KvMainMessage = {
  /** Reserve more revisions. */
  reserve(): void
  /** Put a turn's writes (`core/writes.ts`), so many, into the log; answered once this node has applied them. */
  append(writes: Uint8Array, count: number): LogResult
  /** Answered once this node has applied the log up to this place. */
  waitForSequence(sequence: number): void
  /** Answered once this node has applied all that was in the log when it was asked. */
  barrier(waiters: number): void
  /** Some of what was changed after a place: see `watch/feed.ts`. Without one the place where it is, and nothing else. */
  changes(after: number | undefined, timeout: number, maxBytes?: number): ChangePage | undefined
  /** So many revisions from `first` on were taken, and under those whose conditions held these writes were made. */
  recordWrites(first: number, count: number, writes: Uint8Array): void
  /** What became of revisions that were taken is not known. */
  recordLost(): void
}

/** What main asks of its threads. */
export type KvThreadMessage = {
  /** Answered once what was being written when it was asked is seen by reads, or failed. */
  waitUntilSettled(): void
}
