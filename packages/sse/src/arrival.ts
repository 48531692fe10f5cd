import type { Chunk, ToChunk } from '@influencer-stats/runtime/chunk'
import { eventId } from './core/event-id.ts'
import type { Event } from './core/event.ts'
import type { Group } from './group.ts'
import type { History } from './history/history.ts'
import type { SharedValues } from './shared-values.ts'
import type { StreamRequest } from './stream-request.ts'

/** What a stream's client may leave unread before it is read more from the history (bytes, about). */
export const SLICE = 65_536

/** Length above which a value is encoded once for all streams and sent in slices (characters). */
const LARGE = 4_096

/** What is to be written next. */
export interface Slice {
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
export class Arrival {
  readonly group: Group
  /** When its client last took something (ms, `performance.now()`). */
  movedAt = performance.now()
  /** Ends the stream once it has been told all. */
  lastWords: string | undefined
  readonly #history: History
  readonly #values: SharedValues
  readonly #slice: number
  /** Current values are told up to here; after that everything. */
  readonly #currentUpTo: number
  /** Topics whose current values are to be told, from the last to the first. */
  #waiting: string[] | undefined
  /** It has been told what came up to here. */
  #seq: number
  /** Its client knows that something up to here is lost. */
  #lostUpTo: number
  #isLost: boolean
  /** What is left of a large value. */
  #rest: Chunk | undefined

  constructor(
    group: Group,
    { resumeAfter, lostUpTo = 0 }: StreamRequest,
    { history, values, slice }: { history: History; values: SharedValues; slice: number },
  ) {
    this.group = group
    this.#history = history
    this.#values = values
    this.#slice = slice
    this.#isLost = Number.isNaN(resumeAfter) && group.encoder.tellsGaps
    this.#seq = resumeAfter || 0
    this.#lostUpTo = Math.max(this.#seq, lostUpTo)
    this.#currentUpTo = resumeAfter === undefined ? history.seq : 0
  }

  /** @param text goes before it */
  next(toChunk: ToChunk, text = ''): Slice {
    const { encoder } = this.group
    const { epoch } = this.#history
    const chunks: Chunk[] = []
    function flushText(): void {
      if (text !== '') chunks.push(toChunk(text))
      text = ''
    }
    let room = this.#slice
    while (room > 0) {
      if (this.#rest) {
        const { length } = this.#rest.bytes
        flushText()
        chunks.push(this.#rest.slice(0, room))
        this.#rest = length > room ? this.#rest.slice(room, length) : undefined
        room -= length
        continue
      }
      const events = this.#read(room)
      if (this.#isLost && !encoder.tellsGaps) return { chunks, isLast: false, isBroken: true }
      if (this.#isLost) {
        // The client is right before what follows, should the stream break in between.
        text += encoder.gap(eventId(epoch, events[0] ? events[0].seq - 1 : this.#history.seq))
        this.#isLost = false
      }
      if (events.length === 0) {
        text += encoder.position(eventId(epoch, this.#history.seq))
        flushText()
        return { chunks, isLast: true }
      }
      for (const event of events) {
        const id = eventId(epoch, event.seq)
        this.#seq = event.seq
        if (event.value.length > LARGE) {
          this.#rest = this.#values.of(encoder, event, id)
          break
        }
        const piece = encoder.value(id, event)
        text += piece
        if ((room -= piece.length) <= 0) break
      }
    }
    flushText()
    return { chunks, isLast: false }
  }

  /** What is to be told next. @param most about so many characters of it */
  #read(most: number): readonly Event[] {
    const { selectors, reader } = this.group
    if (this.#seq < this.#currentUpTo) {
      const event = this.#nextCurrent()
      if (event) return [event]
      this.#seq = this.#lostUpTo = this.#currentUpTo
    }
    const { events, lostUpTo } = this.#history.since(selectors, this.#seq, most, reader)
    if (lostUpTo > this.#lostUpTo) {
      this.#isLost = true
      this.#lostUpTo = lostUpTo
    }
    return events
  }

  /** The next current value. One that is so no longer comes with what came after the stream was opened. */
  #nextCurrent(): Event | undefined {
    const { selectors, reader } = this.group
    const current = (topic: string) => this.#history.current(topic)
    this.#waiting ??= this.#history.names(selectors).sort((one, other) => current(other)!.seq - current(one)!.seq)
    for (let topic = this.#waiting.pop(); topic !== undefined; topic = this.#waiting.pop()) {
      const event = current(topic)
      if (event && event.seq > this.#seq && event.seq <= this.#currentUpTo && reader.sees(event)) return event
    }
    return undefined
  }
}
