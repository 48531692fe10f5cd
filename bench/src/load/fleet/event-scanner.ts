/** Takes the values of a stream. */
export interface ValueSink {
  /** A whole event that holds `<sequence>.<due>`. */
  value(sequence: number, due: number): void
  /** A whole event that holds anything else. */
  wrong(): void
}

const CR = 13
const LF = 10
const SPACE = 32
const DOT = 46
const ZERO = 48
const NINE = 57

// Numbers, not an enum or strings: they are compared for every byte.
const LINE_START = 0
const SKIP = 1
const NAME = 2
const TYPE_SPACE = 3
const TYPE = 4
const DATA_SPACE = 5
const BEFORE = 6
const SEQUENCE = 7
const DUE = 8
const AFTER = 9

const DATA = Buffer.from('data:')
const EVENT = Buffer.from('event:')
const MESSAGE = Buffer.from('message')

/**
 * Reads events in as many pieces as they come. It keeps nothing but a few numbers between pieces, so bytes may be
 * overwritten after they were fed. Events of a type other than `message` (`event: closed`) are passed over, as are
 * comments, `id` and `retry`.
 */
export class EventScanner {
  readonly #sink: ValueSink
  readonly #before: Buffer
  readonly #after: Buffer
  #line = LINE_START
  /** How much of a word has been seen. */
  #at = 0
  #word = DATA
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

  /** Reads the bytes from `from` to `to`. The hot path: a step of a machine for each byte. */
  feed(bytes: Buffer, from: number, to: number): void {
    let line = this.#line
    let at = this.#at
    for (let i = from; i < to; i++) {
      const byte = bytes[i]!
      if (byte === LF) {
        this.#endLine(line, at)
        line = LINE_START
        at = 0
        continue
      }
      // Only as part of CRLF, so it can be left out.
      if (byte === CR) continue
      switch (line) {
        case SKIP:
          break
        case LINE_START:
          line = NAME
          at = 1
          if (byte === 100) this.#word = DATA
          else if (byte === 101) this.#word = EVENT
          else line = SKIP
          break
        case NAME:
          if (byte !== this.#word[at]) line = SKIP
          else if (++at === this.#word.length) {
            line = this.#word === DATA ? DATA_SPACE : TYPE_SPACE
            at = 0
          }
          break
        case TYPE_SPACE:
          line = TYPE
          if (byte !== SPACE) i--
          break
        case TYPE:
          if (byte === MESSAGE[at++]) break
          this.#typed = true
          line = SKIP
          break
        case DATA_SPACE:
          this.#sequence = 0
          this.#due = 0
          line = this.#before.length === 0 ? SEQUENCE : BEFORE
          if (byte !== SPACE) i--
          break
        case BEFORE:
          if (byte !== this.#before[at++]) line = this.#spoil()
          else if (at === this.#before.length) line = SEQUENCE
          break
        case SEQUENCE:
          if (byte >= ZERO && byte <= NINE) this.#sequence = this.#sequence * 10 + byte - ZERO
          else if (byte === DOT) line = DUE
          else line = this.#spoil()
          break
        case DUE:
          if (byte >= ZERO && byte <= NINE) this.#due = this.#due * 10 + byte - ZERO
          else {
            line = AFTER
            at = 0
            i--
          }
          break
        default:
          if (byte !== this.#after[at++]) line = this.#spoil()
      }
    }
    this.#line = line
    this.#at = at
  }

  /** The rest of a line of data that is not as it must be is passed over. */
  #spoil(): number {
    this.#lines++
    this.#right = false
    return SKIP
  }

  #endLine(line: number, at: number): void {
    if (line === LINE_START) return this.#dispatch()
    if (line === SKIP) return
    if (line === TYPE) {
      // An empty type is `message`, too.
      if (at > 0 && at < MESSAGE.length) this.#typed = true
      return
    }
    const whole = this.#after.length === 0 ? line === DUE : line === AFTER && at === this.#after.length
    if (whole) this.#lines++
    else if (line >= DATA_SPACE) this.#spoil()
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
