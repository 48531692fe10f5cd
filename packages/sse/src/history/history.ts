import type { SharedLevel, SharedLevelOptions } from '@influencer-stats/runtime/shared-level'
import type { Event } from '../core/event.ts'
import type { ReadScope } from '../core/read-scope.ts'
import type { Selectors } from '../core/selectors.ts'

/** What a history holds, as plain data: a thread that starts gets it. */
export interface HistoryState {
  readonly epoch: string
  /** The last place given out. */
  readonly seq: number
  /** Topics that are not listed may have had events up to here. */
  readonly floor: number
  /** What earlier lives may have given out and lost: who was there may have missed something. */
  readonly lost?: readonly LostRange[]
  /** The one that was put to last stands last. */
  readonly topics: readonly TopicState[]
}

/** Places from one (inclusive) to another (exclusive). */
export interface LostRange {
  readonly from: number
  readonly before: number
}

export interface TopicState {
  readonly topic: string
  /** Events up to here are no longer kept. */
  readonly floor: number
  /** Never empty. */
  readonly events: readonly Event[]
}

/** The events that a client missed. */
export interface MissedEvents {
  readonly events: readonly Event[]
  /** Whether these are all, or the first of them: otherwise some are no longer kept. */
  readonly complete: boolean
  /** What is no longer kept lies no further on than here. */
  readonly lostUpTo: number
}

/** Remembers events, for clients that come back and for those that want the current value first. */
export interface History {
  /** What it is kept in, where that may refuse. */
  readonly level?: SharedLevel
  readonly epoch: string
  /** The last place given out, closings included. */
  readonly seq: number
  /**
   * Takes events in order; resolves once they are kept.
   * @param seq the last place given out, which may be that of something that is not kept
   * @param onAppended called at once when they are: nobody finds them before, nor `seq`
   */
  append(events: readonly Event[], seq?: number, onAppended?: () => void): void | Promise<void>
  /**
   * What came to these topics after `seq`, in order.
   * @param maxLength about so many characters of it: the first of them, and one event at least
   * @param reader what it may not see is left out; by default nothing
   */
  readSince(selectors: Selectors, seq: number, maxLength?: number, reader?: ReadScope): MissedEvents
  /** Which of these topics have a current value. */
  getNames(selectors: Selectors): string[]
  /** A topic's newest event. Kept however old it is, until there are too many topics. */
  getCurrent(topic: string): Event | undefined
  getState(): HistoryState
  /** Idempotent. */
  close(): Promise<void>
}

export interface HistoryOptions extends Pick<SharedLevelOptions<string, string>, 'log'> {
  /** Where it is kept, for one that survives a restart. */
  readonly folder: string
  /** Most events of a topic. */
  readonly count: number
  /** Most bytes of memory that a topic's events may take. */
  readonly bytes: number
  /** How long an event is kept (ms). */
  readonly age: number
  /** Most topics; beyond, new ones take each other's places, or those of topics not put to for a day. */
  readonly topics: number
  /** Most bytes of memory for all; beyond, values that are not current go, and then topics likewise. */
  readonly total: number
}
