import type { LevelShare } from '@influencer-stats/runtime/level-health'
import type { ChangePage } from './core/change-pages.ts'
import type { Outcomes } from './core/evaluate-writes.ts'

/** State that a thread of a standalone service receives at its start. */
export interface KvStandaloneState {
  /** Access of the thread to the database; absent if the store is in memory. */
  readonly share?: LevelShare
  /** State that threads share about values that expire (`store/ttl.ts`). */
  readonly ttlMemory: SharedArrayBuffer
  /** Shared memory of the counter of revisions (`revisions.ts`). */
  readonly revisions: SharedArrayBuffer
  /**
   * Locks of keys, and the number of this thread as their owner; absent if one thread writes (`store/key-locks.ts`).
   */
  readonly stripes?: { readonly memory: SharedArrayBuffer; readonly owner: number }
  /** Flag that the feed is on (`watch/write-recorder.ts`). */
  readonly recording: SharedArrayBuffer
}

/** State that a thread of a cluster node receives at its start. */
export interface KvClusterState {
  readonly share: LevelShare
  readonly ttlMemory: SharedArrayBuffer
  /** State of the log. */
  readonly logState: SharedArrayBuffer
}

/** Result of the writes of one entry of the log. */
export interface LogResult {
  /** Sequence of the entry. */
  readonly sequence: number
  /** One outcome for each write. */
  readonly outcomes: Outcomes
}

/** Messages from the threads to the main thread, in both modes. */
type KvFeedMessage = {
  /**
   * Read the changes after a sequence: see `ChangeFeed.readAfter`. Without `after`, the reply is the current sequence
   * and no changes.
   */
  changes(after: number | undefined, timeout: number, maxBytes?: number): ChangePage | undefined
}

/** Messages from the threads of a standalone service. */
export type KvStandaloneMessage = KvFeedMessage & {
  /** Report that the thread used `count` revisions from `first` on. `writes` contains those that took effect. */
  recordWrites(first: number, count: number, writes: Uint8Array): void
  /** Report that the outcome of some revisions is unknown. */
  recordLost(): void
}

/** Messages from the threads of a standalone service with a database. */
export type KvLevelMessage = KvStandaloneMessage & {
  /** Reserve more revisions. */
  reserve(): void
  /** Refuse all writes, also after a restart, or accept them. The reply follows once no earlier write is in progress. */
  setStopped(isStopped: boolean): void
}

/** Messages from the threads of a cluster node. */
export type KvClusterMessage = KvFeedMessage & {
  /**
   * Append `count` encoded writes (`core/encode-writes.ts`) to the log. The reply follows once this node has applied
   * them.
   */
  append(writes: Uint8Array, count: number): LogResult
  /** Reply once this node has applied the log up to this sequence. */
  waitForSequence(sequence: number): void
  /** Reply once this node has applied all entries that the log had at the request. */
  barrier(waiters: number): void
}

export type KvMainMessage = KvStandaloneMessage | KvLevelMessage | KvClusterMessage

/** Messages from the main thread to the threads of a standalone service. */
export type KvThreadMessage = {
  /** Reply once every write that was in progress at the request is visible to reads, or has failed. */
  waitUntilSettled(): void
}
