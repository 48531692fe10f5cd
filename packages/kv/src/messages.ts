import type { LevelShare } from '@influencer-stats/runtime/level-health'
import type { ChangePage } from './core/change-pages.ts'
import type { Outcomes } from './core/evaluate-writes.ts'

/** State that a thread receives at its start. */
export interface KvSharedState {
  /** Share of the thread in the database, if there is a database. */
  readonly share?: LevelShare
  /** Shared memory that numbers writes. */
  readonly revisions: SharedArrayBuffer
  /** State that threads share about values that expire (`store/ttl.ts`). */
  readonly ttlMemory: SharedArrayBuffer
  /** Locks of keys and the number of this thread as an owner, if several threads may write. */
  readonly stripes?: { readonly memory: SharedArrayBuffer; readonly owner: number }
  /** Flag that watch streams exist; for a process that defines the order of writes (`watch/write-recorder.ts`). */
  readonly recording?: SharedArrayBuffer
  /** State of the log, in a cluster. */
  readonly logState?: SharedArrayBuffer
}

/** Result of the writes of one turn of the event loop. */
export interface LogResult {
  /** Sequence of their entry in the log. */
  readonly sequence: number
  readonly outcomes: Outcomes
}

/** Messages of threads to the main thread. */
export type KvMainMessage = {
  /** Reserve more revisions. */
  reserve(): void
  /**
   * Append `count` encoded writes (`core/encode-writes.ts`) to the log. The reply follows once this node has applied
   * them.
   */
  append(writes: Uint8Array, count: number): LogResult
  /** Reply once this node has applied the log up to this sequence. */
  waitForSequence(sequence: number): void
  /** Reply once this node has applied all entries that the log had at the request. */
  barrier(waiters: number): void
  /**
   * Read changes after a sequence: see `watch/change-feed.ts`. Without `after`, the current sequence and no changes.
   */
  changes(after: number | undefined, timeout: number, maxBytes?: number): ChangePage | undefined
  /** Report `count` revisions from `first` on, and the writes whose conditions held. */
  recordWrites(first: number, count: number, writes: Uint8Array): void
  /** Report that the outcome of some revisions is unknown. */
  recordLost(): void
}

/** Messages of the main thread to its threads. */
export type KvThreadMessage = {
  /** Reply once reads see the writes that were in progress at the request, or those have failed. */
  waitUntilSettled(): void
}
