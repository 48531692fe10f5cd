import { isClosing, type StreamEntry, type Event } from '../core/event.ts'
import type { History } from '../history/history.ts'
import type { Put } from '../messages.ts'
import type { BacklogLimits } from './broker.ts'

/** The one place where values get their order: once per process, or, over a log, once for all nodes. */
export interface Sequencer {
  /** What was put so far. */
  readonly history: History
  /** Values put and not yet delivered everywhere. */
  readonly backlogLimits: number
  /**
   * Resolves with the values' places, one behind the other, once they are kept, all or none.
   * @throws Problem `FANOUT_BACKLOG_FULL`, `LOG_UNAVAILABLE`, `OUTCOME_UNKNOWN`
   */
  publish(puts: readonly Put[]): Promise<number[]>
  /** Resolves with the closing's place. @throws as `publish` */
  closeAll(): Promise<number>
  /** Resolves once all that anybody has been told of has been delivered from here. @throws Problem `LOG_UNAVAILABLE`, `SEQUENCE_WAIT_TIMEOUT` */
  catchUp(): Promise<void>
  /** Waits for what was put. Idempotent. */
  close(): Promise<void>
}

export interface SequencerOptions {
  readonly backlogLimits: BacklogLimits
  /** Takes entries to wherever there are streams; resolves once they have arrived. */
  deliver(entries: readonly StreamEntry[]): void | Promise<unknown>
}

/** Puts what was delivered, or is about to be, into a history. */
export function appendEntries(
  history: History,
  entries: readonly StreamEntry[],
  onAppended?: () => void,
): void | Promise<void> {
  const events = entries.filter((entry): entry is Event => !isClosing(entry))
  return history.append(events, entries.at(-1)!.seq, onAppended)
}
