import { isClosing, type StreamEntry, type Event } from '../core/event.ts'
import type { History } from '../history/history.ts'
import type { Put } from '../messages.ts'
import type { BacklogLimits } from './broker.ts'

/** Orders the values: one sequencer per process or, with a log, one order for all nodes. */
export interface Sequencer {
  /** History of the published values. */
  readonly history: History
  /** Number of values that are published but not delivered everywhere. */
  readonly backlogLimits: number
  /**
   * Publishes all of the values or none. Resolves with their consecutive sequence numbers once they are stored.
   * @throws Problem `FANOUT_BACKLOG_FULL`, `LOG_UNAVAILABLE`, `OUTCOME_UNKNOWN`
   */
  publish(puts: readonly Put[]): Promise<number[]>
  /** Resolves with the sequence number of the closing. @throws as `publish` */
  closeAll(): Promise<number>
  /**
   * Resolves once this process has delivered every value that any client may have received.
   * @throws Problem `LOG_UNAVAILABLE`, `SEQUENCE_WAIT_TIMEOUT`
   */
  catchUp(): Promise<void>
  /** Waits for the published values. Idempotent. */
  close(): Promise<void>
}

export interface SequencerOptions {
  readonly backlogLimits: BacklogLimits
  /** Delivers entries to all threads with streams; resolves once they have arrived. */
  deliver(entries: readonly StreamEntry[]): void | Promise<unknown>
}

/** Appends entries to a history, at or before their delivery. */
export function appendEntries(
  history: History,
  entries: readonly StreamEntry[],
  onAppended?: () => void,
): void | Promise<void> {
  const events = entries.filter((entry): entry is Event => !isClosing(entry))
  return history.append(events, entries.at(-1)!.seq, onAppended)
}
