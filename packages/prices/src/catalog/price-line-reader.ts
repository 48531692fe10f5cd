import { describeJsonError } from '@influencer-stats/runtime/received-value'
import { isUtf8 } from 'node:buffer'
import { ByteAccumulator } from '../core/bytes/byte-accumulator.ts'
import type { PriceProblem } from '../core/encode-price.ts'
import type { Price } from '../core/price.ts'
import { parsePriceJson } from '../core/price-json.ts'
import { errors } from '../errors.ts'
import { validatePriceLine } from '../price-schema.ts'

const MAX_LINE_BYTES = 65_536
const NEWLINE = 10

/** Reads prices, one per line. The first invalid line ends the import. */
export class PriceLineReader {
  readonly #put: (price: Price) => PriceProblem | undefined
  readonly #validate: (value: unknown) => string | undefined
  /** The beginning of an incomplete line. */
  readonly #rest = new ByteAccumulator()
  #line = 0

  /** @param put receives each valid price, and returns its problem if it has one */
  constructor(put: (price: Price) => PriceProblem | undefined, validate = validatePriceLine) {
    this.#put = put
    this.#validate = validate
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
      this.#readLine(this.#rest.take())
      start = end + 1
    }
    this.#append(bytes.subarray(start))
  }

  /**
   * Reads the last line, which may have no line break.
   * @throws Problem `BAD_LINE`
   */
  end(): void {
    this.#readLine(this.#rest.take())
  }

  #append(piece: Uint8Array): void {
    this.#rest.add(piece)
    if (this.#rest.length > MAX_LINE_BYTES)
      throw errors.BAD_LINE(`line ${this.#line + 1}: must be at most ${MAX_LINE_BYTES} bytes; received more`)
  }

  #readLine(bytes: Buffer): void {
    this.#line++
    const fail = (why: string) => errors.BAD_LINE(`line ${this.#line}: ${why}`)
    // Decoding replaces invalid bytes by U+FFFD, which can make two names equal.
    if (!isUtf8(bytes)) throw fail('must be UTF-8; received other bytes')
    const text = bytes.toString('utf8').trim()
    if (text === '') return
    let price: Price
    try {
      price = parsePriceJson(text) as Price
    } catch {
      throw fail(describeJsonError(text, 'price'))
    }
    const validationError = this.#validate(price)
    if (validationError) throw fail(validationError)
    const problem = this.#put(price)
    if (problem) throw fail(`${problem.code} ${problem.detail}`)
  }
}
