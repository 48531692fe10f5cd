/** Receives the values of a stream. */
export interface ValueSink {
  /** Called for each whole event that contains `<sequence>.<due>`. */
  value(sequence: number, due: number): void
  /** Called for each whole event with other contents. */
  wrong(): void
}

const [LF, CR, SPACE, DOT, ZERO] = [10, 13, 32, 46, 48]
const [DATA, EVENT, MESSAGE] = ['data:', 'event:', 'message'].map((word) => Buffer.from(word)) as [
  Buffer,
  Buffer,
  Buffer,
]
const EMPTY_BUFFER = Buffer.alloc(0)

/** True if a word is at an offset. A match is within one line, because no word contains a line end. */
function matchesAt(word: Buffer, bytes: Buffer, at: number): boolean {
  for (let i = 0; i < word.length; i++) if (bytes[at + i] !== word[i]) return false
  return true
}

/**
 * Parses events that arrive in any number of pieces. Copies an incomplete line, so the caller may overwrite the bytes
 * after `feed`. Ignores comments, `id`, `retry`, and events of a type other than `message` (`event: closed`).
 */
export class EventScanner {
  readonly #sink: ValueSink
  readonly #before: Buffer
  readonly #after: Buffer
  /** The beginning of an incomplete line. */
  #partialLine = EMPTY_BUFFER
  /** Offset within the line. */
  #at = 0
  #sequence = 0
  #due = 0
  /** State of the current event: number of data lines; true if all are as expected; true if the type is another one. */
  #lines = 0
  #right = true
  #typed = false

  constructor(sink: ValueSink, [before, after]: readonly [string, string]) {
    this.#sink = sink
    this.#before = Buffer.from(before)
    this.#after = Buffer.from(after)
  }

  /** Parses more bytes. It is called often, so it reads each byte once, and the bytes of values twice. */
  feed(piece: Buffer): void {
    const bytes = this.#partialLine.length > 0 ? Buffer.concat([this.#partialLine, piece]) : piece
    let from = 0
    for (let i = this.#partialLine.length; i < bytes.length; i++) {
      if (bytes[i] !== LF) continue
      this.#readLine(bytes, from, i > from && bytes[i - 1] === CR ? i - 1 : i)
      from = i + 1
    }
    this.#partialLine = from < bytes.length ? Buffer.from(bytes.subarray(from)) : EMPTY_BUFFER
  }

  #readLine(bytes: Buffer, from: number, to: number): void {
    if (from === to) this.#dispatch()
    else if (matchesAt(DATA, bytes, from)) {
      this.#lines++
      if (!this.#isValue(bytes, from + DATA.length, to)) this.#right = false
    } else if (matchesAt(EVENT, bytes, from)) {
      const at = from + EVENT.length + (bytes[from + EVENT.length] === SPACE ? 1 : 0)
      // An empty type means `message`.
      if (at < to && !(matchesAt(MESSAGE, bytes, at) && at + MESSAGE.length === to)) this.#typed = true
    }
  }

  /** Parses the rest of a line. Returns true if it is a value. */
  #isValue(bytes: Buffer, from: number, to: number): boolean {
    const at = bytes[from] === SPACE ? from + 1 : from
    if (!matchesAt(this.#before, bytes, at)) return false
    this.#at = at + this.#before.length
    this.#sequence = this.#readNumber(bytes)
    if (bytes[this.#at++] !== DOT) return false
    this.#due = this.#readNumber(bytes)
    return matchesAt(this.#after, bytes, this.#at) && this.#at + this.#after.length === to
  }

  #readNumber(bytes: Buffer): number {
    let value = 0
    for (let digit; (digit = bytes[this.#at]! - ZERO) >= 0 && digit <= 9; this.#at++) value = value * 10 + digit
    return value
  }

  #dispatch(): void {
    if (this.#lines > 0 && !this.#typed) {
      if (this.#right && this.#lines === 1) this.#sink.value(this.#sequence, this.#due)
      else this.#sink.wrong()
    }
    this.#lines = 0
    this.#right = true
    this.#typed = false
  }
}
