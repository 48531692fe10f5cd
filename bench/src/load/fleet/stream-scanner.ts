import { ReplyScanner } from '../raw/reply-scanner.ts'
import { EventScanner, type ValueSink } from './event-scanner.ts'

/** State of a stream: the head is incomplete, the stream is open, it ended cleanly, or it is invalid. */
export type StreamState = 'head' | 'open' | 'ended' | 'broken'

const EVENT_STREAM = /\r\ncontent-type:[ \t]*text\/event-stream[ \t]*(?:;[^\r\n]*)?\r\n/i

/** Parses an event-stream reply that arrives in pieces. The caller may overwrite the bytes after `feed`. */
export class StreamScanner {
  state: StreamState = 'head'
  readonly #reply: ReplyScanner

  constructor(sink: ValueSink, around: readonly [string, string]) {
    const events = new EventScanner(sink, around)
    this.#reply = new ReplyScanner((part) => {
      if (this.#updateState() === 'open') events.feed(part)
    })
    this.#reply.begin(false)
  }

  feed(bytes: Buffer): StreamState {
    const scan = this.#reply.feed(bytes)
    if (scan === 'broken') this.state = 'broken'
    if (this.#updateState() === 'open' && scan === 'done') this.state = 'ended'
    return this.state
  }

  /** Handles the end of the connection. @returns `ended` if the stream was complete */
  end(): StreamState {
    if (this.state === 'open' && this.#reply.end()) this.state = 'ended'
    return this.state === 'ended' ? 'ended' : (this.state = 'broken')
  }

  /** Updates the state once the head is complete. */
  #updateState(): StreamState {
    const { head, status } = this.#reply
    if (this.state === 'head' && head !== '') {
      this.state = status === 200 && EVENT_STREAM.test(head) ? 'open' : 'broken'
    }
    return this.state
  }
}
