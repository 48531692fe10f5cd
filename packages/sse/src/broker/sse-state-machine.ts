import { FrameError } from '@influencer-stats/log/errors'
import type { LogEntry, LogPosition, StateMachine } from '@influencer-stats/log/log'
import { readEntry } from '@influencer-stats/log/read-entry'
import { deriveEpoch } from '../core/event-id.ts'
import { createEvent, type StreamEntry } from '../core/event.ts'
import { decodePuts, type PutBatch } from '../core/encode-puts.ts'
import { decodeEvents } from '../core/moved-event.ts'
import { findNewEvents } from '../history/find-new-events.ts'
import { sumBytes } from './fanout-backlog.ts'
import { appendEntries } from '../history/append-entries.ts'
import type { History, HistoryState } from '../history/history.ts'
import { decodeSnapshot, encodeSnapshot } from '../history/history-snapshot.ts'

/** Kinds of log entries: values published together, the end of all streams, and imported events. */
export const PUTS_KIND = 1
export const CLOSING_KIND = 2
export const IMPORT_KIND = 3

export interface SseStateMachineOptions {
  /**
   * Creates the history.
   * @param state state of a cluster's history. A standalone service has its own history, and ignores it
   */
  createHistory(state: HistoryState): History
  /**
   * Delivers entries to all serving threads. If it returns a promise, the next entries are applied once the promise is
   * settled.
   * @param bytes size of the values
   */
  deliver(entries: readonly StreamEntry[], bytes: number): Promise<unknown> | undefined | void
}

/**
 * Applies the entries of the log to the history, and delivers them to the threads. It counts values and closings in the
 * order of the log, so all nodes of a cluster assign the same ids.
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
    const { createHistory } = this.#options
    return (this.#history ??= createHistory({ epoch: deriveEpoch(epoch), seq: 0, floor: 0, topics: [] }))
  }

  /**
   * Resolves with the last sequence number of each entry; for an import with the number of events that the history did
   * not have.
   * @throws Problem `DISK_FULL`, `STORE_FAILED` from a history on the disk; FrameError
   */
  async apply(entries: readonly LogEntry[], position: LogPosition): Promise<number[]> {
    const hasImport = entries.some(({ kind }) => kind === IMPORT_KIND)
    if (!hasImport) return this.#applyBatch(entries, position)
    // An import depends on the history that all entries before it leave, in whatever batches a node receives them.
    const outcomes: number[] = []
    for (const entry of entries) outcomes.push(...(await this.#applyBatch([entry], position)))
    return outcomes
  }

  async #applyBatch(entries: readonly LogEntry[], position: LogPosition): Promise<number[]> {
    const history = this.getHistory(position.epoch)
    let { seq } = history
    let bytes = 0
    const published: StreamEntry[] = []
    // All entries are decoded before any is stored, so an unreadable entry changes nothing.
    const seqs = entries.map((entry) => {
      if (entry.kind === IMPORT_KIND) {
        const events = findNewEvents(history, readEntry(entry, decodeEvents), seq)
        published.push(...events)
        bytes += sumBytes(events.map(({ topic, value }) => [topic, value]))
        return events.length
      }
      const batch = readBatch(entry)
      if (batch) {
        for (const put of batch.puts) published.push(createEvent(put, ++seq, entry.at))
        bytes += batch.bytes
      } else published.push({ seq: ++seq, closing: true })
      return seq
    })
    let delivery: Promise<unknown> | undefined | void
    // Delivery happens in the same turn as the append. If a stream opened between the two, it would miss these values or
    // receive them twice. A snapshot between the two would have the wrong position.
    const onAppended = () => {
      this.#position = position
      delivery = this.#options.deliver(published, bytes)
    }
    if (published.length === 0) this.#position = position
    else await appendEntries(history, published, onAppended)
    await delivery
    return seqs
  }

  async *snapshot(onPosition?: (position: LogPosition) => void): AsyncGenerator<Buffer> {
    const position = this.#position
    if (!position || !this.#history) return
    onPosition?.(position)
    yield* encodeSnapshot({ position, state: this.#history.getState() })
  }

  async restore(chunks: AsyncIterable<Buffer>): Promise<void> {
    const { position, state } = await decodeSnapshot(chunks)
    this.#history = this.#options.createHistory(state)
    this.#position = position
  }
}

/** Returns undefined for the entry that ends all streams. @throws FrameError */
function readBatch(entry: LogEntry): PutBatch | undefined {
  const { kind, seq } = entry
  if (kind === PUTS_KIND) return readEntry(entry, decodePuts)
  if (kind === CLOSING_KIND) return undefined
  throw new FrameError(
    'LOG_FORMAT_UNKNOWN',
    `has an entry of the unknown kind ${kind}; this version knows ${PUTS_KIND} to ${IMPORT_KIND}`,
    seq,
  )
}
