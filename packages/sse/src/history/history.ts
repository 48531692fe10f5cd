import type { SharedLevel, SharedLevelOptions } from '@influencer-stats/runtime/shared-level'
import type { Event } from '../core/event.ts'
import type { ReadScope } from '../core/read-scope.ts'
import type { Selectors } from '../core/selectors.ts'

/** State of a history as plain data. A new thread, or a node that reads a snapshot, creates its history from it. */
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
  /**
   * Ordered: the topic whose last event is the oldest comes first. `RingHistory` lists two groups, each in this order:
   * its established topics, then its newcomers.
   */
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
  /**
   * True if certainly no missed event is lost: `events` has all of them or, because of `maxLength`, the first of them.
   * False if some may be lost.
   */
  readonly complete: boolean
  /** Events up to this sequence number may be lost. 0 if none was lost. */
  readonly lostUpTo: number
}

/** Stores events for clients that reconnect, and current values for clients that start with them (`last=1`). */
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
   * @param maxLength approximate maximum length of the values (characters). The result has the first events, and at
   *   least one if there are any
   * @param reader if given, events that it may not read are omitted
   */
  readSince(selectors: Selectors, seq: number, maxLength?: number, reader?: ReadScope): MissedEvents
  /** Returns the names of the selected topics that are stored. Each has a current value. */
  getNames(selectors: Selectors): string[]
  /**
   * Returns a topic's newest event. `age` does not apply to it: it is stored until `topics` or `total` removes the
   * whole topic.
   */
  getCurrent(topic: string): Event | undefined
  /**
   * Returns the sequence number of the stored update with this id of its publisher: of the oldest one, if the publisher
   * repeated the id.
   */
  findById(id: string): number | undefined
  getState(): HistoryState
  /** Idempotent. */
  close(): Promise<void>
}

export interface HistoryOptions extends Pick<SharedLevelOptions<string, string>, 'log'> {
  /** Data folder of a history that survives a restart; others do not use it. */
  readonly folder: string
  /** Maximum number of a topic's events. */
  readonly count: number
  /** Maximum memory of a topic's events (bytes). */
  readonly bytes: number
  /** Maximum age of an event that is not its topic's current value (ms). */
  readonly age: number
  /**
   * Maximum number of topics. Beyond it, a new topic replaces the established topic with the oldest last event if that
   * event is older than a day, otherwise the newcomer with the oldest last event (see `RingHistory`).
   */
  readonly topics: number
  /**
   * Maximum memory of all topics (bytes). Beyond it, values that are not current are removed first, and then whole
   * topics by the rule of `topics`.
   */
  readonly total: number
}
