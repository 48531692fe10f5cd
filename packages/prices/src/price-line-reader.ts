import { isUtf8 } from 'node:buffer'
import type { Draft } from './core/draft.ts'
import { isDate } from './core/dates.ts'
import { Joined } from './core/joined.ts'
import type { Price } from './core/price.ts'
import { errors } from './errors.ts'
import { priceFault } from './price-schema.ts'

const LONGEST_LINE = 65_536
const NEWLINE = 10

/** Reads prices, one a line, into a draft. The first line that is wrong ends it: nothing of it is used then. */
export class PriceLineReader {
  readonly draft: Draft
  readonly replace: boolean
  /** How many prices there may be. */
  readonly most: number
  /** The beginning of a line. */
  readonly #rest = new Joined()
  #line = 0
  imported = 0

  readonly #faultOf: (value: unknown) => string | undefined

  constructor(draft: Draft, replace: boolean, most: number, faultOf = priceFault) {
    this.#faultOf = faultOf
    this.draft = draft
    this.replace = replace
    this.most = most
  }

  /** @throws Problem `BAD_LINE`, `CATALOG_FULL` */
  take(chunk: Uint8Array): void {
    const bytes = Buffer.from(chunk.buffer, chunk.byteOffset, chunk.length)
    let start = 0
    for (let end = bytes.indexOf(NEWLINE); end >= 0; end = bytes.indexOf(NEWLINE, start)) {
      this.#keep(bytes.subarray(start, end))
      this.#takeLine(this.#rest.take())
      start = end + 1
    }
    this.#keep(bytes.subarray(start))
  }

  /** Takes the last line, which may have no end. */
  end(): void {
    this.#takeLine(this.#rest.take())
  }

  #keep(piece: Uint8Array): void {
    this.#rest.add(piece)
    if (this.#rest.length > LONGEST_LINE)
      throw errors.BAD_LINE(`line ${this.#line + 1}: longer than ${LONGEST_LINE} bytes`)
  }

  #takeLine(bytes: Buffer): void {
    this.#line++
    const fail = (why: string) => errors.BAD_LINE(`line ${this.#line}: ${why}`)
    // As text it would become U+FFFD, and two names one.
    if (!isUtf8(bytes)) throw fail('not UTF-8')
    const text = bytes.toString('utf8').trim()
    if (text === '') return
    let price: Price
    try {
      price = JSON.parse(text)
    } catch {
      throw fail('not valid JSON')
    }
    const misfit = this.#faultOf(price)
    if (misfit) throw fail(misfit)
    const fault = datesOf(price) ?? this.draft.put(price)
    if (fault) throw fail(`${fault.code} ${fault.detail}`)
    this.imported++
    if (this.draft.size > this.most) throw errors.CATALOG_FULL(`more than ${this.most}`)
  }
}

function datesOf({ from, to }: Price): { code: string; detail: string } | undefined {
  const wrong = [from, to].find((date) => date !== undefined && !isDate(date))
  return wrong === undefined ? undefined : { code: 'VALIDATION_FAILED', detail: `${wrong} is no date` }
}
