import type { Bus } from '@influencer-stats/runtime/channel'
import type { ConnectionCounts } from '../client.ts'
import type { StreamEntry, TopicPut } from '../core/event.ts'
import type { MovedEvent } from '../core/moved-event.ts'
import type { History } from '../history/history.ts'
import type { AnsweredSeq } from './answered-seq.ts'
import type { ActiveSubscription } from '../hub/active-subscriptions.ts'
import type { ThreadCount, SseMainMessage, SseThreadMessage } from '../messages.ts'

/** Orders all values and delivers each of them once to every thread, in that order. */
export interface Broker {
  /**
   * Publishes all of the values or none. Resolves with their consecutive sequence numbers once they are stored.
   * Delivery to the streams follows.
   * @throws Problem `FANOUT_BACKLOG_FULL`, `LOG_UNAVAILABLE`, `OUTCOME_UNKNOWN`, each with `Retry-After`; `DISK_FULL`,
   *   `STORE_FAILED` from a history on the disk
   */
  publish(puts: readonly TopicPut[]): Promise<number[]>
  /**
   * Publishes those of the events that the history does not have, with their original times. Resolves with their number.
   * @throws Problem as `publish`
   */
  importEvents(events: readonly MovedEvent[]): Promise<number>
  /**
   * Ends every stream, after it has received all values that were published earlier. Resolves with the sequence number
   * of the closing entry.
   * @throws Problem as `publish`, except `FANOUT_BACKLOG_FULL`
   */
  closeAll(): Promise<number>
  /**
   * Resolves once this thread has received everything that any thread of any node has received.
   * @throws Problem `LOG_UNAVAILABLE`, `SEQUENCE_WAIT_TIMEOUT`
   */
  catchUp(): Promise<void>
  /**
   * Resolves once this thread has every value whose put this process has answered. Undefined if it has them now.
   */
  receiveAnswered(): Promise<void> | undefined
  /** Counts the streams of all threads, in total and by topic. */
  countConnections(): Promise<ConnectionCounts>
  /** Lists the open subscriptions of all threads of this process. */
  listSubscriptions(): Promise<readonly ActiveSubscription[]>
  /** Idempotent. */
  close(): Promise<void>
}

export interface BrokerOptions {
  readonly bus: Bus<SseMainMessage, SseThreadMessage>
  /** History of this thread. The broker appends every value to it, at or before its delivery. */
  readonly history: History
  readonly backlogLimits: BacklogLimits
  /** Position of the main thread, if it orders the values. */
  readonly answered?: AnsweredSeq
  /** Maximum wait of a client that resumes after a sequence number that this process has not applied yet (ms). */
  readonly sequenceWaitTimeout: number
  /** Delivers entries to the streams of this thread. */
  deliver(entries: readonly StreamEntry[]): void
  /** Lists the open subscriptions of this thread. */
  listSubscriptions(): readonly ActiveSubscription[]
  /** Returns the topics with the largest numbers of streams on this thread. */
  getLargestTopics(): string[]
  /** Counts the streams of this thread, in total and for the given topics. */
  countStreams(topics: readonly string[]): ThreadCount
}

/**
 * Limits of the backlog: the values that are published but not yet delivered to every thread. They are necessary
 * because messages between threads have no back-pressure.
 */
export interface BacklogLimits {
  /** Maximum number of values. */
  readonly values: number
  /** Maximum size of their texts (bytes). */
  readonly bytes: number
}
