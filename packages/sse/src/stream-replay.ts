import type { Chunk, ToChunk } from '@influencer-stats/runtime/chunk'
import { formatEventId } from './core/event-id.ts'
import type { Event } from './core/event.ts'
import type { StreamGroup } from './stream-group.ts'
import type { History } from './history/history.ts'
import type { SharedValues } from './shared-values.ts'
import type { StreamRequest } from './stream-request.ts'

/** What a stream's client may leave unread before it is read more from the history (bytes, about). */
export const MAX_SLICE_BYTES = 65_536

/** Length above which a value is encoded once for all streams and sent in slices (characters). */
const MIN_LARGE_VALUE_LENGTH = 4_096

/** What is to be written next. */
export interface ReplaySlice {
  readonly chunks: readonly Chunk[]
  /** Whether the stream has then been told all that came before. */
  readonly isLast: boolean
  /** The client cannot be told of what is lost but by a new stream. */
  readonly isBroken?: true
}

/**
 * A stream that has yet to be told what came before it: current values, or what its client missed. That is read from
 * the history as the client takes it, so that who reads nothing holds no more than a slice of it.
 */
export class StreamReplay {
  readonly group: StreamGroup
  /** When its client last took something (ms, `performance.now()`). */
  progressAt = performance.now()
  /** Ends the stream once it has been told all. */
  finalEvent: string | undefined
  readonly #history: History
  readonly #values: SharedValues
  readonly #slice: number
  /** Current values are told up to here; after that everything. */
  readonly #currentUpTo: number
  /** Topics whose current values are to be told, from the last to the first. */
  #pendingTopics: string[] | undefined
  /** It has been told what came up to here. */
  #seq: number
  /** Its client knows that something up to here is lost. */
  #lostUpTo: number
  #isLost: boolean
  /** What is left of a large value. */
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

  /** @param text goes before it */
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
        // The client is right before what follows, should the stream break in between.
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

  /** What is to be told next. @param maxLength about so many characters of it */
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

  /** The next current value. One that is so no longer comes with what came after the stream was opened. */
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
