import type { ConnectionCounts } from './client.ts'
import type { StreamEntry, TopicPut } from './core/event.ts'
import type { MovedEvent } from './core/moved-event.ts'
import type { HistoryState } from './history/history.ts'
import type { ActiveSubscription } from './hub/active-subscriptions.ts'
import type { SlotShare } from './hub/stream-slots.ts'

/** Numbers of streams on one thread. */
export interface ThreadCount {
  readonly thread: number
  readonly streams: number
  /** Streams of the requested topics; a stream of several topics counts for each. */
  readonly topics: readonly (readonly [topic: string, streams: number])[]
  /** Sum of these numbers for all topics of the thread. */
  readonly allTopics: number
}

/** Calls from threads to the main thread, which orders the values. */
export type SseMainMessage = {
  /**
   * Resolves with the sequence numbers of the values once they are stored. Threads may not have received them yet.
   * @param bytes size of the values
   */
  publish(puts: readonly TopicPut[], bytes: number): number[]
  /** Publishes those of the events that the history does not have. Resolves with their number. */
  importEvents(events: readonly MovedEvent[]): number
  /** Ends all streams. Resolves with the sequence number of the closing entry. */
  closeAll(): number
  /** Resolves once the calling thread has received everything that any thread of any node has received. */
  catchUp(): void
  /** Lists the subscriptions of all threads. */
  subscriptions(): readonly ActiveSubscription[]
  /** Counts the streams of all threads. */
  connections(): ConnectionCounts
}

/** Calls from the main thread to all threads. */
export type SseThreadMessage = {
  /** Delivers entries to the history and the streams of a thread. */
  deliver(entries: readonly StreamEntry[]): void
  /** Lists a thread's subscriptions. */
  listSubscriptions(): readonly ActiveSubscription[]
  /** Returns a thread's topics with the largest numbers of streams. */
  largestTopics(): string[]
  /** Counts a thread's streams, in total and for the given topics. */
  count(topics: readonly string[]): ThreadCount
}

/** Data with which a thread starts. */
export interface SseSharedState {
  /** Share of the table in which the thread counts its streams. */
  readonly slots: SlotShare
  /** Memory of the position up to which puts may be answered (`AnsweredSeq`). */
  readonly answered: SharedArrayBuffer
  /** Health of the history's storage, if its writes may fail. */
  readonly health?: SharedArrayBuffer
  /** State of the main thread's history, if it has one. */
  readonly historyState: HistoryState | undefined
  /** Memory of the state of the log, on a node of a cluster. */
  readonly logState: SharedArrayBuffer | undefined
}
