import type { StreamEntry, TopicPut } from './core/event.ts'
import type { HistoryState } from './history/history.ts'
import type { SlotShare } from './stream-slots.ts'

export type { TopicPut as Put }

/** The streams of one thread. */
export interface ThreadCount {
  readonly thread: number
  readonly streams: number
  /** Streams of the topics that were asked for; a stream of several topics counts for each. */
  readonly topics: readonly (readonly [topic: string, streams: number])[]
  /** The same of all topics together. */
  readonly allTopics: number
}

/** The streams of all threads. */
export interface ConnectionCounts {
  readonly streams: number
  readonly threads: readonly { readonly thread: number; readonly streams: number }[]
  /** Those with the most streams, most first. */
  readonly topics: readonly { readonly topic: string; readonly streams: number }[]
  /** Streams of topics that are not listed; a stream of several counts for each. */
  readonly others: number
}

/** What threads ask of main, which gives values their order. */
export type SseMainMessage = {
  /** Resolves with the values' places in the order once they are kept; not yet delivered. */
  publish(puts: readonly TopicPut[]): number[]
  closeAll(): number
  /** Resolves once everything that was brought to any thread, of any node, has been brought to the one that asks. */
  catchUp(): void
  connections(): ConnectionCounts
}

/** What main tells all threads. */
export type SseThreadMessage = {
  deliver(entries: readonly StreamEntry[]): void
  /** A thread's topics with the most streams. */
  largestTopics(): string[]
  count(topics: readonly string[]): ThreadCount
}

/** What a thread is started with. */
export interface SseSharedState {
  /** Where it counts its streams. */
  readonly slots: SlotShare
  /** Whether the history takes values, where it may refuse. */
  readonly health?: SharedArrayBuffer
  /** What has been put so far, where main keeps it. */
  readonly historyState: HistoryState | undefined
}
