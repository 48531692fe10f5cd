import { commonErrors } from '@influencer-stats/runtime/errors'
import type { Problem } from '@influencer-stats/runtime/problems'
import { formatReceived } from '@influencer-stats/runtime/received-value'

const QUOTE = 34
const COMMA = 44
const OPEN_BRACKET = 91
const BACKSLASH = 92
const CLOSE_BRACKET = 93
const OPEN_BRACE = 123
const CLOSE_BRACE = 125

const isSpace = (byte: number) => byte === 32 || byte === 10 || byte === 13 || byte === 9

/** Returns the offset of the first byte that is not white space. */
export function skipSpace(bytes: Buffer, start: number): number {
  let at = start
  while (at < bytes.length && isSpace(bytes[at]!)) at++
  return at
}

/** Returns the offset of the item after a comma; the length of `bytes` if no comma follows. */
export function skipComma(bytes: Buffer, start: number): number {
  const at = skipSpace(bytes, start)
  return bytes[at] === COMMA ? skipSpace(bytes, at + 1) : bytes.length
}

const END_OF_REQUEST = 'the end of the request'

/** The tokens that may follow in a body, and their description. */
const EXPECTED = {
  start: 'a JSON object, or an array of objects',
  object: 'a JSON object',
  first: 'a JSON object or ]',
  separator: 'a comma or ]',
  end: END_OF_REQUEST,
} as const

/**
 * Splits a body that arrives in pieces into items: JSON objects one after the other, or one JSON array of objects. It
 * reads each byte once.
 */
export class ItemScanner {
  #expected: keyof typeof EXPECTED = 'start'
  #depth = 0
  #inText = false
  #escaped = false
  /** True if the body is an array. */
  isArray = false
  /** Number of items that have ended. */
  count = 0

  /**
   * Checks that the body may end here.
   * @param offset position of the item that has begun, or the length of the body (bytes)
   * @throws Problem `BAD_JSON`
   */
  assertComplete(offset: number): void {
    if (this.#depth > 0) throw this.#createError(offset, 'complete', END_OF_REQUEST)
    if (this.isArray && this.#expected !== 'end')
      throw this.#createError(offset, EXPECTED[this.#expected], END_OF_REQUEST)
  }

  /** The next item, as errors name it. @param offset its position in the body (bytes) */
  describeItem(offset: number): string {
    return `item ${this.count + 1}, at byte ${offset},`
  }

  /**
   * Returns the start of the next item at or after `start`; the length of `bytes` if it is not in this piece.
   * @param offset position of the piece in the body (bytes), for errors
   * @throws Problem `BAD_JSON` if the body cannot be split here
   */
  findStart(bytes: Buffer, start: number, offset: number): number {
    let at = skipSpace(bytes, start)
    for (; at < bytes.length; at = skipSpace(bytes, at + 1)) {
      const byte = bytes[at]!
      if (byte === OPEN_BRACE && this.#expected !== 'separator' && this.#expected !== 'end') break
      if (!this.#takeBracket(byte))
        throw this.#createError(offset + at, EXPECTED[this.#expected], formatReceived(String.fromCharCode(byte)))
    }
    return at
  }

  /**
   * Returns the end of the item that begins at `start` or in an earlier piece; -1 if it continues in the next piece. The
   * caller reports the end with `endItems`.
   */
  findEnd(bytes: Uint8Array, start: number): number {
    for (let at = start; at < bytes.length; at++) {
      const byte = bytes[at]!
      if (this.#escaped) this.#escaped = false
      else if (this.#inText) {
        if (byte === BACKSLASH) this.#escaped = true
        else if (byte === QUOTE) this.#inText = false
      } else if (byte === QUOTE) this.#inText = true
      else if (byte === OPEN_BRACE) this.#depth++
      else if (byte === CLOSE_BRACE && --this.#depth === 0) return at + 1
    }
    return -1
  }

  /** Counts items that have ended, and the commas between them. */
  endItems(count: number): void {
    this.count += count
    this.#expected = this.isArray ? 'separator' : 'object'
  }

  #createError(offset: number, expected: string, received: string): Problem {
    return commonErrors.BAD_JSON(`${this.describeItem(offset)} must be ${expected}; received ${received}`)
  }

  /** @returns true if the byte may follow */
  #takeBracket(byte: number): boolean {
    const expected = this.#expected
    if (byte === OPEN_BRACKET && expected === 'start') {
      this.isArray = true
      this.#expected = 'first'
    } else if (byte === CLOSE_BRACKET && (expected === 'first' || expected === 'separator')) this.#expected = 'end'
    else if (byte === COMMA && expected === 'separator') this.#expected = 'object'
    else return false
    return true
  }
}
