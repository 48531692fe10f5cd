import type { SharedLevel, SharedLevelOptions } from '@influencer-stats/runtime/shared-level'
import type { Event } from '../core/event.ts'
import type { ReadScope } from '../core/read-scope.ts'
import type { Selectors } from '../core/selectors.ts'

/** State of a history as plain data. A new thread starts with it. */
export interface HistoryState {
  readonly epoch: string
  /** The last assigned sequence number. */
  readonly seq: number
  /** Topics that are not listed may have had events up to this sequence number. */
  readonly floor: number
  /**
   * Sequence numbers that earlier runs may have assigned and lost. A client at one of them may have missed events.
   */
  readonly lost?: readonly LostRange[]
  /** In the order of their last events, latest last. A ring lists established topics first, then newcomers. */
  readonly topics: readonly TopicState[]
}

/** Sequence numbers from one (inclusive) to another (exclusive). */
export interface LostRange {
  readonly from: number
  readonly before: number
}

export interface TopicState {
  readonly topic: string
  /** Events up to this sequence number are no longer stored. */
  readonly floor: number
  /** Never empty. */
  readonly events: readonly Event[]
}

/** The events that a client missed. */
export interface MissedEvents {
  readonly events: readonly Event[]
  /** False if some of the events are no longer stored. True if `events` has all of them, or the first of them. */
  readonly complete: boolean
  /** Events that are no longer stored have this sequence number at most. */
  readonly lostUpTo: number
}

/** Stores events for clients that reconnect, and current values for clients that request them first. */
export interface History {
  /** Database of the history, if it has one. Its writes may fail. */
  readonly level?: SharedLevel
  readonly epoch: string
  /** The last assigned sequence number, including closings. */
  readonly seq: number
  /**
   * Appends events in order; resolves once they are stored.
   * @param seq the last assigned sequence number, which may belong to an entry that is not stored
   * @param onAppended called in the same turn in which the events and `seq` become visible
   */
  append(events: readonly Event[], seq?: number, onAppended?: () => void): void | Promise<void>
  /**
   * Returns the events of these topics after `seq`, in order.
   * @param maxLength approximate maximum (characters): returns the first events, at least one
   * @param reader omits the events that it may not read; by default none
   */
  readSince(selectors: Selectors, seq: number, maxLength?: number, reader?: ReadScope): MissedEvents
  /** Returns the names of the selected topics that have a current value. */
  getNames(selectors: Selectors): string[]
  /**
   * Returns a topic's newest event. It has no maximum age, and is stored until the limits on topics or memory remove
   * the topic.
   */
  getCurrent(topic: string): Event | undefined
  getState(): HistoryState
  /** Idempotent. */
  close(): Promise<void>
}

export interface HistoryOptions extends Pick<SharedLevelOptions<string, string>, 'log'> {
  /** Folder of a history that survives a restart. */
  readonly folder: string
  /** Maximum events of a topic. */
  readonly count: number
  /** Maximum memory of a topic's events (bytes). */
  readonly bytes: number
  /** Maximum age of an event (ms). */
  readonly age: number
  /** Maximum topics. Beyond it, a new topic replaces another new one, or a topic without a new event for a day. */
  readonly topics: number
  /**
   * Maximum memory of all topics (bytes). Beyond it, values that are not current are removed, and then topics likewise.
   */
  readonly total: number
}
