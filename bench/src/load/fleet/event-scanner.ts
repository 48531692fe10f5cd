/** Takes the values of a stream. */
export interface ValueSink {
  /** A whole event that holds `<sequence>.<due>`. */
  value(sequence: number, due: number): void
  /** A whole event that holds anything else. */
  wrong(): void
}

const [LF, CR, SPACE, DOT, ZERO] = [10, 13, 32, 46, 48]
const [DATA, EVENT, MESSAGE] = ['data:', 'event:', 'message'].map((word) => Buffer.from(word)) as [
  Buffer,
  Buffer,
  Buffer,
]
const EMPTY_BUFFER = Buffer.alloc(0)

/** Whether a word stands at a place. No word has a line's end in it, so none goes beyond the line. */
function matchesAt(word: Buffer, bytes: Buffer, at: number): boolean {
  for (let i = 0; i < word.length; i++) if (bytes[at + i] !== word[i]) return false
  return true
}

/**
 * Reads events in as many pieces as they come. It keeps a copy of a line that is not whole, so bytes may be overwritten
 * after they were fed. Events of a type other than `message` (`event: closed`) are passed over, as are comments, `id` and
 * `retry`.
 */
export class EventScanner {
  readonly #sink: ValueSink
  readonly #before: Buffer
  readonly #after: Buffer
  /** The beginning of a line that came in part. */
  #partialLine = EMPTY_BUFFER
  /** Where in a line it reads. */
  #at = 0
  #sequence = 0
  #due = 0
  /** Of the event: lines of data, whether they are as they must be, and whether its type is another. */
  #lines = 0
  #right = true
  #typed = false

  constructor(sink: ValueSink, [before, after]: readonly [string, string]) {
    this.#sink = sink
    this.#before = Buffer.from(before)
    this.#after = Buffer.from(after)
  }

  /** The hot path: a look at each byte, and a second one at those of values. */
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
      // An empty type is `message`, too.
      if (at < to && !(matchesAt(MESSAGE, bytes, at) && at + MESSAGE.length === to)) this.#typed = true
    }
  }

  /** Reads a value that takes the rest of its line. */
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
