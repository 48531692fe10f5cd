import type { Chunk, ToChunk } from '@influencer-stats/runtime/chunk'
import { formatEventId } from './core/event-id.ts'
import type { Event } from './core/event.ts'
import type { StreamGroup } from './stream-group.ts'
import type { History } from './history/history.ts'
import type { SharedValues } from './shared-values.ts'
import type { StreamRequest } from './stream-request.ts'

/**
 * Approximate size of a replay slice (bytes). The next slice is read from the history once the client has taken this
 * one.
 */
export const MAX_SLICE_BYTES = 65_536

/** Length above which a value is encoded once for all streams and sent in slices (characters). */
const MIN_LARGE_VALUE_LENGTH = 4_096

/** Data to write next. */
export interface ReplaySlice {
  readonly chunks: readonly Chunk[]
  /** True if the replay is then complete. */
  readonly isLast: boolean
  /** The encoding cannot report the loss within this stream; the client needs a new stream. */
  readonly isBroken?: true
}

/**
 * Replay of a stream: current values, or the events that its client missed. They are read from the history as the
 * client takes them, so a client that does not read holds at most one slice.
 */
export class StreamReplay {
  readonly group: StreamGroup
  /** Time at which the client last took data (ms, `performance.now()`). */
  progressAt = performance.now()
  /** Ends the stream after the replay. */
  finalEvent: string | undefined
  readonly #history: History
  readonly #values: SharedValues
  readonly #slice: number
  /** The replay has only current values up to this sequence number, and all events after it. */
  readonly #currentUpTo: number
  /** Topics whose current values are not sent yet, latest first. */
  #pendingTopics: string[] | undefined
  /** Events up to this sequence number have been sent. */
  #seq: number
  /** The client knows of losses up to this sequence number. */
  #lostUpTo: number
  #isLost: boolean
  /** Rest of a large value. */
  #remainder: Chunk | undefined

  constructor(
    group: StreamGroup,
    { resumeAfter, lostUpTo = 0 }: StreamRequest,
    { history, values, slice }: { history: History; values: SharedValues; slice: number },
  ) {
    this.group = group
    this.#history = history
    this.#values = values
    this.#slice = slice
    this.#isLost = Number.isNaN(resumeAfter) && group.encoder.hasGapEvents
    this.#seq = resumeAfter || 0
    this.#lostUpTo = Math.max(this.#seq, lostUpTo)
    this.#currentUpTo = resumeAfter === undefined ? history.seq : 0
  }

  /** @param text text that is sent first */
  readSlice(toChunk: ToChunk, text = ''): ReplaySlice {
    const { encoder } = this.group
    const { epoch } = this.#history
    const chunks: Chunk[] = []
    function flushText(): void {
      if (text !== '') chunks.push(toChunk(text))
      text = ''
    }
    let remaining = this.#slice
    while (remaining > 0) {
      if (this.#remainder) {
        const { length } = this.#remainder.bytes
        flushText()
        chunks.push(this.#remainder.slice(0, remaining))
        this.#remainder = length > remaining ? this.#remainder.slice(remaining, length) : undefined
        remaining -= length
        continue
      }
      const events = this.#read(remaining)
      if (this.#isLost && !encoder.hasGapEvents) return { chunks, isLast: false, isBroken: true }
      if (this.#isLost) {
        // If the stream breaks here, the client resumes directly before the next event.
        text += encoder.encodeGap(formatEventId(epoch, events[0] ? events[0].seq - 1 : this.#history.seq))
        this.#isLost = false
      }
      if (events.length === 0) {
        text += encoder.encodePosition(formatEventId(epoch, this.#history.seq))
        flushText()
        return { chunks, isLast: true }
      }
      for (const event of events) {
        const id = formatEventId(epoch, event.seq)
        this.#seq = event.seq
        if (event.value.length > MIN_LARGE_VALUE_LENGTH) {
          this.#remainder = this.#values.getChunk(encoder, event, id)
          break
        }
        const encoded = encoder.encodeValue(id, event)
        text += encoded
        if ((remaining -= encoded.length) <= 0) break
      }
    }
    flushText()
    return { chunks, isLast: false }
  }

  /** Returns the next events. @param maxLength approximate maximum (characters) */
  #read(maxLength: number): readonly Event[] {
    const { selectors, reader } = this.group
    if (this.#seq < this.#currentUpTo) {
      const event = this.#readNextCurrent()
      if (event) return [event]
      this.#seq = this.#lostUpTo = this.#currentUpTo
    }
    const { events, lostUpTo } = this.#history.readSince(selectors, this.#seq, maxLength, reader)
    if (lostUpTo > this.#lostUpTo) {
      this.#isLost = true
      this.#lostUpTo = lostUpTo
    }
    return events
  }

  /**
   * Returns the next current value. A value that was replaced meanwhile is skipped: its successor follows with the
   * events after the stream's opening.
   */
  #readNextCurrent(): Event | undefined {
    const { selectors, reader } = this.group
    const current = (topic: string) => this.#history.getCurrent(topic)
    this.#pendingTopics ??= this.#history
      .getNames(selectors)
      .sort((one, other) => current(other)!.seq - current(one)!.seq)
    for (let topic = this.#pendingTopics.pop(); topic !== undefined; topic = this.#pendingTopics.pop()) {
      const event = current(topic)
      if (event && event.seq > this.#seq && event.seq <= this.#currentUpTo && reader.canRead(event)) return event
    }
    return undefined
  }
}
