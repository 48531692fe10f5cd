import { EventScanner, type ValueSink } from './event-scanner.ts'

/** Where a stream stands: its head is not whole yet, it is open, it has ended well, or it is no HTTP/1.1. */
export type StreamState = 'head' | 'open' | 'ended' | 'broken'

const HEAD_LIMIT = 16_384
const STATUS_LINE = /^HTTP\/1\.[01] (\d{3})(?: [^\r\n]*)?\r\n/
const EVENT_STREAM = /\r\ncontent-type:[ \t]*text\/event-stream[ \t]*(?:;[^\r\n]*)?\r\n/i
const CHUNKED = /\r\ntransfer-encoding:[ \t]*(?:[^\r\n]*,[ \t]*)?chunked[ \t]*\r\n/i

const CR = 13
const LF = 10
const SPACE = 32
const SEMICOLON = 59

// Numbers, not an enum or strings: they are compared for every byte of a frame.
const PLAIN = 0
const SIZE = 1
const EXTENSION = 2
const CHUNK = 3
const CHUNK_END = 4
const TRAILER = 5

/** The value of a hexadecimal digit, -1 for any other byte. */
function hex(byte: number): number {
  if (byte >= 48 && byte <= 57) return byte - 48
  const lower = byte | 32
  return lower >= 97 && lower <= 102 ? lower - 87 : -1
}

/**
 * Reads one reply that is an event stream, in as many pieces as it comes, chunked or not. Its bytes may be overwritten
 * after they were fed.
 */
export class StreamScanner {
  /** Of the head, once it is whole. */
  status = 0
  state: StreamState = 'head'
  readonly #events: EventScanner
  #head = ''
  #framing = PLAIN
  /** Of the chunk: bytes that are still to come. */
  #missing = 0

  constructor(sink: ValueSink, around: readonly [string, string]) {
    this.#events = new EventScanner(sink, around)
  }

  /** Reads the first `length` bytes. */
  feed(bytes: Buffer, length: number): StreamState {
    const from = this.state === 'head' ? this.#readHead(bytes, length) : 0
    if (this.state !== 'open') return this.state
    if (this.#framing === PLAIN) this.#events.feed(bytes, from, length)
    else this.#chunks(bytes, from, length)
    return this.state
  }

  /** The connection has ended: whether the stream was whole. */
  end(): StreamState {
    if (this.state === 'open' && this.#framing === PLAIN) this.state = 'ended'
    return this.state === 'ended' ? 'ended' : (this.state = 'broken')
  }

  /** @returns where the body begins */
  #readHead(bytes: Buffer, length: number): number {
    const held = this.#head.length
    this.#head += bytes.toString('latin1', 0, length)
    const end = this.#head.indexOf('\r\n\r\n')
    if (end < 0) {
      if (this.#head.length > HEAD_LIMIT) this.state = 'broken'
      return length
    }
    const head = this.#head.slice(0, end + 2)
    this.#head = ''
    const line = STATUS_LINE.exec(head)
    this.status = Number(line?.[1] ?? 0)
    this.state = this.status === 200 && EVENT_STREAM.test(head) ? 'open' : 'broken'
    this.#framing = CHUNKED.test(head) ? SIZE : PLAIN
    return end + 4 - held
  }

  #chunks(bytes: Buffer, from: number, to: number): void {
    let i = from
    while (i < to) {
      if (this.#framing === CHUNK) {
        const end = Math.min(to, i + this.#missing)
        this.#events.feed(bytes, i, end)
        this.#missing -= end - i
        i = end
        if (this.#missing === 0) this.#framing = CHUNK_END
        continue
      }
      const byte = bytes[i++]!
      if (byte === CR) continue
      if (this.#framing === CHUNK_END) {
        if (byte !== LF) return void (this.state = 'broken')
        this.#framing = SIZE
      } else if (this.#framing === TRAILER) {
        // No trailers are expected: the empty line ends the reply.
        this.state = byte === LF ? 'ended' : 'broken'
        return
      } else if (byte === LF) this.#framing = this.#missing === 0 ? TRAILER : CHUNK
      else if (this.#framing === SIZE) {
        const digit = hex(byte)
        if (digit >= 0) this.#missing = this.#missing * 16 + digit
        else if (byte === SEMICOLON || byte === SPACE) this.#framing = EXTENSION
        else return void (this.state = 'broken')
      }
    }
  }
}
