import { ReplyScanner } from '../raw/reply-scanner.ts'
import { EventScanner, type ValueSink } from './event-scanner.ts'

/** Where a stream stands: its head is not whole yet, it is open, it has ended well, or it is none. */
export type StreamState = 'head' | 'open' | 'ended' | 'broken'

const EVENT_STREAM = /\r\ncontent-type:[ \t]*text\/event-stream[ \t]*(?:;[^\r\n]*)?\r\n/i

/** Reads one reply that is an event stream, in as many pieces as it comes. Its bytes may be overwritten after they were fed. */
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

  /** The connection has ended: whether the stream was whole. */
  end(): StreamState {
    if (this.state === 'open' && this.#reply.end()) this.state = 'ended'
    return this.state === 'ended' ? 'ended' : (this.state = 'broken')
  }

  /** The state, where the head is whole. */
  #updateState(): StreamState {
    const { head, status } = this.#reply
    if (this.state === 'head' && head !== '') {
      this.state = status === 200 && EVENT_STREAM.test(head) ? 'open' : 'broken'
    }
    return this.state
  }
}
