import { isUtf8 } from 'node:buffer'
import { ByteAccumulator } from '../core/bytes/byte-accumulator.ts'
import { errors } from '../errors.ts'

/** Maximum size of a line, its line breaks within quotes included (bytes). */
export const MAX_CSV_LINE_BYTES = 65_536
const QUOTE = 34
const NEWLINE = 10
const CARRIAGE_RETURN = 13
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
  #isQuoted = false
  #number = 1
  #height = 1

  /**
   * Returns the lines that end in a chunk.
   * @throws Problem `BAD_LINE`
   */
  addChunk(chunk: Uint8Array): CsvLine[] {
    const lines: CsvLine[] = []
    let start = 0
    for (let at = 0; at < chunk.length; at++) {
      const byte = chunk[at]
      if (byte === QUOTE) this.#isQuoted = !this.#isQuoted
      else if (byte === NEWLINE && this.#isQuoted) this.#height++
      else if (byte === NEWLINE) {
        this.#append(chunk.subarray(start, at))
        lines.push(this.#takeLine())
        start = at + 1
      }
    }
    this.#append(chunk.subarray(start))
    return lines
  }

  /**
   * Returns the last line, if it has no line break.
   * @throws Problem `BAD_LINE`
   */
  end(): CsvLine[] {
    return this.#rest.length > 0 ? [this.#takeLine()] : []
  }

  #append(piece: Uint8Array): void {
    this.#rest.add(piece)
    if (this.#rest.length <= MAX_CSV_LINE_BYTES) return
    const why = this.#isQuoted ? 'a quote is not closed within' : 'must be at most'
    throw errors.BAD_LINE(`line ${this.#number}: ${why} ${MAX_CSV_LINE_BYTES} bytes; received more`)
  }

  #takeLine(): CsvLine {
    let bytes = this.#rest.take()
    // Decoding replaces invalid bytes by U+FFFD, which can make two names equal.
    if (!isUtf8(bytes)) throw errors.BAD_LINE(`line ${this.#number}: must be UTF-8; received other bytes`)
    if (this.#number === 1 && bytes.indexOf(BYTE_ORDER_MARK) === 0) bytes = bytes.subarray(BYTE_ORDER_MARK.length)
    if (bytes.at(-1) === CARRIAGE_RETURN) bytes = bytes.subarray(0, -1)
    const line = { text: bytes.toString(), number: this.#number, height: this.#height }
    this.#number += this.#height
    this.#height = 1
    this.#isQuoted = false
    return line
  }
}
