import { FrameError } from '@influencer-stats/log/errors'
import type { LogEntry, LogPosition, StateMachine } from '@influencer-stats/log/log'
import { logEpoch } from '../core/event-id.ts'
import { eventOf, type Entry, type Put } from '../core/event.ts'
import { decodePuts } from '../core/puts.ts'
import type { History, Kept } from '../history/history.ts'
import { readSnapshot, snapshotPieces } from '../history/snapshot.ts'
import { keep, type SequencerOptions } from './sequencer.ts'

/** Kinds of the log's entries: values that are put at once, and the end of all streams. */
export const PUTS = 1
export const CLOSING = 2

export interface LogViewOptions extends Pick<SequencerOptions, 'deliver'> {
  /** Makes the history that it is, in memory, of what that begins with. */
  create(kept: Kept): History
}

/**
 * What a node makes of the log: the history, and what its threads are told. Values and closings are counted in the log's
 * order, so that all nodes give them the same ids.
 */
export class LogView implements StateMachine {
  readonly #options: LogViewOptions
  #history: History | undefined
  #position: LogPosition | undefined

  constructor(options: LogViewOptions) {
    this.#options = options
  }

  getPosition(): LogPosition | undefined {
    return this.#position
  }

  /** @param epoch of the log */
  historyOf(epoch: string): History {
    return (this.#history ??= this.#options.create({ epoch: logEpoch(epoch), seq: 0, floor: 0, topics: [] }))
  }

  /** Resolves with the last place that each entry has taken, once threads have room for what comes next. */
  async apply(entries: readonly LogEntry[], position: LogPosition): Promise<number[]> {
    const history = this.historyOf(position.epoch)
    let { seq } = history
    const told: Entry[] = []
    // What cannot be read is found before anything is kept.
    const places = entries.map((entry) => {
      const puts = putsOf(entry)
      if (puts) for (const put of puts) told.push(eventOf(put, ++seq, entry.at))
      else told.push({ seq: ++seq, closing: true })
      return seq
    })
    this.#position = position
    if (told.length > 0) {
      // At once, as `LocalSequencer` does.
      void keep(history, told)
      await this.#options.deliver(told)
    }
    return places
  }

  async *snapshot(): AsyncGenerator<Buffer> {
    if (this.#position && this.#history) yield* snapshotPieces({ position: this.#position, kept: this.#history.kept() })
  }

  async restore(pieces: AsyncIterable<Buffer>): Promise<void> {
    const { position, kept } = await readSnapshot(pieces)
    this.#history = this.#options.create(kept)
    this.#position = position
  }
}

/** Nothing where all streams are to end. @throws FrameError */
function putsOf({ kind, body, seq }: LogEntry): Put[] | undefined {
  if (kind === CLOSING) return undefined
  if (kind !== PUTS)
    throw new FrameError(
      'LOG_FORMAT_UNKNOWN',
      `has an entry of kind ${kind}; this version knows ${PUTS} and ${CLOSING}`,
      seq,
    )
  try {
    return decodePuts(body)
  } catch {
    throw new FrameError('LOG_DAMAGED', 'has values that cannot be read', seq)
  }
}
