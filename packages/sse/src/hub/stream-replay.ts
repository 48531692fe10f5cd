import type { Chunk, ToChunk } from '@influencer-stats/runtime/chunk'
import { formatEventId } from '../core/event-id.ts'
import type { Event } from '../core/event.ts'
import type { StreamGroup } from '../fanout/stream-group.ts'
import type { History } from '../history/history.ts'
import type { SharedValues } from './shared-values.ts'
import type { StreamRequest } from './stream-request.ts'

/**
 * Approximate maximum size of a slice of a replay (bytes). The next slice is read from the history once the client has
 * received this one.
 */
export const MAX_SLICE_BYTES = 65_536

/** Length above which replays share the encoded value and send it in slices (characters). */
const MIN_LARGE_VALUE_LENGTH = 4_096

/** The next data of a replay. */
export interface ReplaySlice {
  readonly chunks: readonly Chunk[]
  /** True if the replay is complete after this slice. */
  readonly isLast: boolean
  /** True if events were lost and the encoder cannot report that within a stream: the stream must end. */
  readonly isBroken?: true
}

/**
 * Replay at the start of a stream: the current values, or the events that its client missed. Each slice is read from
 * the history when the client has received the previous slice. So a client that does not read holds at most one slice.
 */
export class StreamReplay {
  readonly group: StreamGroup
  /** Time at which the stream last accepted further data (ms, `performance.now()`). */
  progressAt = performance.now()
  /** Text that ends the stream after the replay; undefined if the stream continues. */
  finalEvent: string | undefined
  readonly #history: History
  readonly #values: SharedValues
  readonly #sliceBytes: number
  readonly #isEventSource: boolean | undefined
  /** Up to this sequence number the replay has only current values; after it, all events. 0 if the client resumes. */
  readonly #currentUpTo: number
  /** Topics whose current values are not sent yet: the topic with the newest value first, so the last is sent next. */
  #pendingTopics: string[] | undefined
  /** The replay continues after this sequence number. */
  #seq: number
  /** The client knows that events up to this sequence number may be lost. */
  #lostUpTo: number
  /** True if a loss is not reported to the client yet. */
  #hasUnreportedLoss: boolean
  /** Unsent rest of a large value. */
  #remainder: Chunk | undefined

  constructor(
    group: StreamGroup,
    { resumeAfter, lostUpTo = 0, isEventSource }: StreamRequest,
    { history, values, sliceBytes }: { history: History; values: SharedValues; sliceBytes: number },
  ) {
    this.group = group
    this.#history = history
    this.#values = values
    this.#isEventSource = isEventSource
    this.#sliceBytes = sliceBytes
    this.#hasUnreportedLoss = Number.isNaN(resumeAfter) && group.encoder.hasGapEvents
    this.#seq = resumeAfter || 0
    this.#lostUpTo = Math.max(this.#seq, lostUpTo)
    this.#currentUpTo = resumeAfter === undefined ? history.seq : 0
  }

  /** True if the client has got a part of a large value. A stream that ended now would end within a chunk and an event. */
  get isWithinValue(): boolean {
    return this.#remainder !== undefined
  }

  /**
   * Reads the next slice.
   * @param head head of the HTTP reply, which is not framed
   * @param text text that precedes the slice
   */
  readSlice(toChunk: ToChunk, head = '', text = ''): ReplaySlice {
    const { encoder } = this.group
    const { epoch } = this.#history
    const chunks: Chunk[] = []
    function flushText(): void {
      const bytes = head + encoder.framing.frame(text)
      if (bytes !== '') chunks.push(toChunk(bytes))
      head = text = ''
    }
    let remaining = this.#sliceBytes
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
      if (this.#hasUnreportedLoss && !encoder.hasGapEvents) return { chunks, isLast: false, isBroken: true }
      if (this.#hasUnreportedLoss) {
        // The gap has the id before the next event, from which a client resumes if the stream breaks here.
        text += encoder.encodeGap(formatEventId(epoch, events[0] ? events[0].seq - 1 : this.#history.seq))
        this.#hasUnreportedLoss = false
      }
      if (events.length === 0) {
        text += encoder.encodePosition(formatEventId(epoch, this.#history.seq), this.#isEventSource)
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

  /** Returns the next events; none at the end of the replay. @param maxLength approximate maximum (characters) */
  #read(maxLength: number): readonly Event[] {
    const { selectors, reader } = this.group
    if (this.#seq < this.#currentUpTo) {
      const event = this.#readNextCurrent()
      if (event) return [event]
      this.#seq = this.#lostUpTo = this.#currentUpTo
    }
    const { events, lostUpTo } = this.#history.readSince(selectors, this.#seq, maxLength, reader)
    if (lostUpTo > this.#lostUpTo) {
      this.#hasUnreportedLoss = true
      this.#lostUpTo = lostUpTo
    }
    return events
  }

  /**
   * Returns the current value that is next in order. If a value was replaced after the stream was opened, the topic is
   * skipped: its new value follows with the events after the opening.
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
