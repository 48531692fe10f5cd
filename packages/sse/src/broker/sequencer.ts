import { isClosing, type StreamEntry, type Event, type TopicPut } from '../core/event.ts'
import type { History } from '../history/history.ts'
import type { BacklogLimits } from './broker.ts'

/** Orders the values. A process has one sequencer. With a log, the sequencers of all nodes have the same order. */
export interface Sequencer {
  /** History of the published values. */
  readonly history: History
  /** Number of values that are published but not yet delivered to all threads. */
  readonly backlogSize: number
  /**
   * Publishes all of the values or none. Resolves with their consecutive sequence numbers once they are stored.
   * @throws Problem `FANOUT_BACKLOG_FULL`, `LOG_UNAVAILABLE`, `OUTCOME_UNKNOWN`, `DISK_FULL`, `STORE_FAILED`
   */
  publish(puts: readonly TopicPut[]): Promise<number[]>
  /**
   * Ends all streams. Resolves with the sequence number of the closing entry.
   * @throws Problem as `publish`, except `FANOUT_BACKLOG_FULL`
   */
  closeAll(): Promise<number>
  /**
   * Resolves once this process has delivered every value that any client may have received.
   * @throws Problem `LOG_UNAVAILABLE`, `SEQUENCE_WAIT_TIMEOUT`
   */
  catchUp(): Promise<void>
  /** Closes the history or the log. Idempotent. */
  close(): Promise<void>
}

export interface SequencerOptions {
  readonly backlogLimits: BacklogLimits
  /** Delivers entries to all serving threads. Resolves once the entries have arrived. */
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
