import { describeJsonError } from '@influencer-stats/runtime/received-value'
import { isUtf8 } from 'node:buffer'
import { ByteAccumulator } from '../core/bytes/byte-accumulator.ts'
import type { PriceProblem } from '../core/encode-price.ts'
import type { Price } from '../core/price.ts'
import { parsePriceJson } from '../core/price-json.ts'
import { refuseLine, type OnInvalidLine } from '../invalid-line.ts'
import { validatePriceLine } from '../price-schema.ts'

const MAX_LINE_BYTES = 65_536
const NEWLINE = 10

/** Receives each valid price with the number of its line, and returns its problem if it has one. */
type PutLine = (price: Price, line: number) => PriceProblem | undefined

/** Reads prices, one per line. */
export class PriceLineReader {
  readonly #put: PutLine
  readonly #validate: (value: unknown) => string | undefined
  readonly #onInvalid: OnInvalidLine
  readonly #parse: (text: string) => unknown
  /** The beginning of an incomplete line. */
  readonly #rest = new ByteAccumulator()
  /** True after the beginning of a line that is too long. */
  #isTooLong = false
  #line = 0

  /**
   * @param put receives each valid price
   * @param onInvalid by default the first invalid line ends the import
   */
  constructor(put: PutLine, validate = validatePriceLine, onInvalid = refuseLine, parse = parsePriceJson) {
    this.#put = put
    this.#validate = validate
    this.#onInvalid = onInvalid
    this.#parse = parse
  }

  /**
   * Reads the lines that end in a chunk, and stores the beginning of the next line.
   * @throws Problem `BAD_LINE`
   */
  addChunk(chunk: Uint8Array): void {
    const bytes = Buffer.from(chunk.buffer, chunk.byteOffset, chunk.length)
    let start = 0
    for (let end = bytes.indexOf(NEWLINE); end >= 0; end = bytes.indexOf(NEWLINE, start)) {
      this.#append(bytes.subarray(start, end))
      this.#endLine()
      start = end + 1
    }
    this.#append(bytes.subarray(start))
  }

  /**
   * Reads the last line, which may have no line break.
   * @throws Problem `BAD_LINE`
   */
  end(): void {
    this.#endLine()
  }

  #append(piece: Uint8Array): void {
    if (this.#isTooLong) return
    this.#rest.add(piece)
    if (this.#rest.length <= MAX_LINE_BYTES) return
    this.#isTooLong = true
    this.#rest.take()
    this.#onInvalid(this.#line + 1, `must be at most ${MAX_LINE_BYTES} bytes; received more`)
  }

  #endLine(): void {
    this.#line++
    const reason = this.#isTooLong ? undefined : this.#readLine(this.#rest.take())
    this.#isTooLong = false
    if (reason !== undefined) this.#onInvalid(this.#line, reason)
  }

  /** Returns the reason why the line is invalid. */
  #readLine(bytes: Buffer): string | undefined {
    // Decoding replaces invalid bytes by U+FFFD, which can make two names equal.
    if (!isUtf8(bytes)) return 'must be UTF-8; received other bytes'
    const text = bytes.toString('utf8').trim()
    if (text === '') return undefined
    let price: Price
    try {
      price = this.#parse(text) as Price
    } catch {
      return describeJsonError(text, 'price')
    }
    const validationError = this.#validate(price)
    if (validationError) return validationError
    const problem = this.#put(price, this.#line)
    return problem && `${problem.code} ${problem.detail}`
  }
}
