import { isUtf8 } from 'node:buffer'
import { ByteAccumulator } from '../core/bytes/byte-accumulator.ts'
import type { OnInvalidLine } from '../invalid-line.ts'

/** Maximum size of a line, its line breaks within quotes included (bytes). */
export const MAX_CSV_LINE_BYTES = 65_536
const QUOTE = 34
const NEWLINE = 10
const CARRIAGE_RETURN = 13
const COMMA = 44
// The state of a cell. A quote has a meaning only at its start and within quotes, so that a wrong one affects one line.
const START = 0
const UNQUOTED = 1
const QUOTED = 2
/** After a quote that ends the cell, or that is the first of two. */
const CLOSED_QUOTE = 3
/** The state after a quote, by the state before it. */
const AFTER_QUOTE = [QUOTED, UNQUOTED, CLOSED_QUOTE, QUOTED]
const BYTE_ORDER_MARK = Buffer.from('\ufeff')

/** A line of a CSV file: its cells may contain line breaks. */
export interface CsvLine {
  /** Without its line break. */
  readonly text: string
  /** Number of its first line in the file, from 1. */
  readonly number: number
  /** Number of lines that it takes in the file. */
  readonly height: number
}

/** Splits the bytes of a CSV file into lines. Lines end with LF or CRLF. A byte order mark is ignored. */
export class CsvLineReader {
  /** The beginning of an incomplete line. */
  readonly #rest = new ByteAccumulator()
  readonly #onInvalid: OnInvalidLine
  #cell = START
  #number = 1
  #height = 1
  /** True after a line that is too long. Its end is unknown, so the rest of the file is not read. */
  #isTooLong = false

  constructor(onInvalid: OnInvalidLine) {
    this.#onInvalid = onInvalid
  }

  /** Returns the lines that end in a chunk. A line that is not UTF-8 is empty. */
  addChunk(chunk: Uint8Array): CsvLine[] {
    const lines: CsvLine[] = []
    let start = 0
    for (let at = 0; at < chunk.length && !this.#isTooLong; at++) {
      const byte = chunk[at]!
      if (byte === QUOTE) this.#cell = AFTER_QUOTE[this.#cell]!
      else if (byte === NEWLINE && this.#cell === QUOTED) this.#height++
      else if (byte === NEWLINE) {
        this.#append(chunk.subarray(start, at))
        lines.push(this.#takeLine())
        start = at + 1
      } else if (byte === COMMA && this.#cell !== QUOTED) this.#cell = START
      else if (this.#cell !== QUOTED && !this.#isByteOrderMark(byte)) this.#cell = UNQUOTED
    }
    this.#append(chunk.subarray(start))
    return lines
  }

  /** Returns the last line, if it has no line break. */
  end(): CsvLine[] {
    return this.#rest.length > 0 ? [this.#takeLine()] : []
  }

  #append(piece: Uint8Array): void {
    if (this.#isTooLong) return
    this.#rest.add(piece)
    if (this.#rest.length <= MAX_CSV_LINE_BYTES) return
    this.#isTooLong = true
    this.#rest.take()
    const why = this.#cell === QUOTED ? 'a quote is not closed within' : 'must be at most'
    this.#onInvalid(this.#number, `${why} ${MAX_CSV_LINE_BYTES} bytes; received more`)
  }

  #isByteOrderMark(byte: number): boolean {
    return this.#number === 1 && this.#cell === START && BYTE_ORDER_MARK.includes(byte)
  }

  #takeLine(): CsvLine {
    let bytes = this.#rest.take()
    // Decoding replaces invalid bytes by U+FFFD, which can make two names equal.
    if (!isUtf8(bytes)) {
      this.#onInvalid(this.#number, 'must be UTF-8; received other bytes')
      bytes = bytes.subarray(0, 0)
    }
    if (this.#number === 1 && bytes.indexOf(BYTE_ORDER_MARK) === 0) bytes = bytes.subarray(BYTE_ORDER_MARK.length)
    if (bytes.at(-1) === CARRIAGE_RETURN) bytes = bytes.subarray(0, -1)
    const line = { text: bytes.toString(), number: this.#number, height: this.#height }
    this.#number += this.#height
    this.#height = 1
    this.#cell = START
    return line
  }
}
