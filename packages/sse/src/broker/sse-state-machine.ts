import { FrameError } from '@influencer-stats/log/errors'
import type { LogEntry, LogPosition, StateMachine } from '@influencer-stats/log/log'
import { deriveEpoch } from '../core/event-id.ts'
import { createEvent, type StreamEntry, type TopicPut } from '../core/event.ts'
import { decodePuts } from '../core/encode-puts.ts'
import type { History, HistoryState } from '../history/history.ts'
import { decodeSnapshot, encodeSnapshot } from '../history/history-snapshot.ts'
import { appendEntries, type SequencerOptions } from './sequencer.ts'

/** Kinds of log entries: values published together, and the end of all streams. */
export const PUTS_KIND = 1
export const CLOSING_KIND = 2

export interface SseStateMachineOptions extends Pick<SequencerOptions, 'deliver'> {
  /** Creates the history of the main thread, in memory, from its initial state. */
  create(state: HistoryState): History
}

/**
 * State machine of a node: applies the entries of the log to the history, and delivers them to the threads. It counts
 * values and closings in the order of the log, so all nodes assign the same ids.
 */
export class SseStateMachine implements StateMachine {
  readonly #options: SseStateMachineOptions
  #history: History | undefined
  #position: LogPosition | undefined

  constructor(options: SseStateMachineOptions) {
    this.#options = options
  }

  getPosition(): LogPosition | undefined {
    return this.#position
  }

  /** @param epoch epoch of the log */
  getHistory(epoch: string): History {
    return (this.#history ??= this.#options.create({ epoch: deriveEpoch(epoch), seq: 0, floor: 0, topics: [] }))
  }

  /** Resolves with the last sequence number of each entry, once `deliver` accepts more entries. */
  async apply(entries: readonly LogEntry[], position: LogPosition): Promise<number[]> {
    const history = this.getHistory(position.epoch)
    let { seq } = history
    const published: StreamEntry[] = []
    // All entries are decoded before any is stored, so an unreadable entry changes nothing.
    const seqs = entries.map((entry) => {
      const puts = decodeEntry(entry)
      if (puts) for (const put of puts) published.push(createEvent(put, ++seq, entry.at))
      else published.push({ seq: ++seq, closing: true })
      return seq
    })
    this.#position = position
    if (published.length > 0) {
      // Append and delivery happen in the same turn; `LocalSequencer` has the reason.
      void appendEntries(history, published)
      await this.#options.deliver(published)
    }
    return seqs
  }

  async *snapshot(): AsyncGenerator<Buffer> {
    if (this.#position && this.#history)
      yield* encodeSnapshot({ position: this.#position, state: this.#history.getState() })
  }

  async restore(chunks: AsyncIterable<Buffer>): Promise<void> {
    const { position, state } = await decodeSnapshot(chunks)
    this.#history = this.#options.create(state)
    this.#position = position
  }
}

/** Returns undefined for the entry that ends all streams. @throws FrameError */
function decodeEntry({ kind, body, seq }: LogEntry): TopicPut[] | undefined {
  if (kind === CLOSING_KIND) return undefined
  if (kind !== PUTS_KIND)
    throw new FrameError(
      'LOG_FORMAT_UNKNOWN',
      `has an entry of the unknown kind ${kind}; this version knows ${PUTS_KIND} and ${CLOSING_KIND}`,
      seq,
    )
  try {
    return decodePuts(body)
  } catch {
    throw new FrameError('LOG_DAMAGED', 'contains unreadable values', seq)
  }
}
