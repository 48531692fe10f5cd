import type { Bus } from '@influencer-stats/runtime/channel'
import type { StreamEntry } from '../core/event.ts'
import type { History } from '../history/history.ts'
import type { ConnectionCounts, Put, ThreadCount, SseMainMessage, SseThreadMessage } from '../messages.ts'

/** Gives values their one order and brings them to every thread in that order, once. */
export interface Broker {
  /**
   * Resolves with the values' places in the order, one behind the other, once they are kept, all or none; they are brought
   * to the streams after that.
   * @throws Problem `FANOUT_BACKLOG_FULL`, `LOG_UNAVAILABLE`, `OUTCOME_UNKNOWN` with `Retry-After`
   */
  publish(puts: readonly Put[]): Promise<number[]>
  /** Ends all streams, each after the values that were put before. Resolves with the closing's place. */
  closeAll(): Promise<number>
  /** Resolves once all that was brought to any thread, of any node, has been brought to this one. @throws Problem `LOG_UNAVAILABLE`, `SEQUENCE_WAIT_TIMEOUT` */
  catchUp(): Promise<void>
  /** The streams of every thread. */
  countConnections(): Promise<ConnectionCounts>
  /** Idempotent. */
  close(): Promise<void>
}

export interface BrokerOptions {
  readonly bus: Bus<SseMainMessage, SseThreadMessage>
  /** This thread's own: the broker sees to it that it has whatever is delivered. */
  readonly history: History
  readonly backlogLimits: BacklogLimits
  /** Takes entries to this thread's streams. */
  deliver(entries: readonly StreamEntry[]): void
  /** This thread's topics with the most streams. */
  getLargestTopics(): string[]
  /** This thread's streams. */
  countStreams(topics: readonly string[]): ThreadCount
}

/** How much may be put and not yet delivered to every thread: messages between threads have no back-pressure. */
export interface BacklogLimits {
  readonly values: number
  readonly bytes: number
}
