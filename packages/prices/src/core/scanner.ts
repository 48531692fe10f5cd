import { MAX_CONDITIONS, MAX_TEXT } from './price.ts'
import type { Query } from './query.ts'
import type { Words } from './resolve.ts'

const QUOTE = 34
const COMMA = 44
const BACKSLASH = 92
const OPEN = 123
const CLOSE = 125
const CLOSE_LIST = 93
const DELETE = 127

const key = (name: string) => Buffer.from(`"${name}":"`)
const OFFERING = key('offeringId')
const GROUP = key('groupId')
const SPEC = key('priceSpecId')
const ID = key('id')
const CHAR = key('char')
const VALUE = key('value')
const CHAR_VALUES = Buffer.from('"charValues":[')

/**
 * Reads a search of exactly the usual shape from its bytes, straight into terms: what JSON.stringify makes of
 * `{id?, offeringId, groupId, priceSpecId, charValues: [{char, value}...]}` (the id first or last), all of it ASCII without
 * escapes, all of it known. Anything else is left to JSON.parse.
 */
export class RequestScanner {
  #bytes: Buffer = Buffer.alloc(0)
  #at = 0
  #limit = 0
  /** Where the last text lies. */
  #from = 0
  #to = 0
  /** Where the request's id lies; nothing before `idTo` where it has none. */
  idFrom = 0
  idTo = -1

  /** Where the last request ended. */
  get end(): number {
    return this.#at
  }

  /** @returns whether the bytes from `start` to `limit` begin with such a request; if not, `query` holds nothing of use */
  scan(bytes: Buffer, start: number, limit: number, { terms, live }: Words, query: Query): boolean {
    this.#bytes = bytes
    this.#at = start
    this.#limit = limit
    this.idTo = -1
    if (!this.#is(OPEN)) return false
    if (this.#has(ID)) {
      if (!this.#id() || !this.#is(COMMA)) return false
    }
    if (!this.#has(OFFERING) || !this.#text()) return false
    const offering = terms.offerings.findBytes(bytes, this.#from, this.#to)
    if (offering < 0 || live[offering] !== 1 || !this.#is(COMMA)) return false
    if (!this.#has(GROUP) || !this.#text()) return false
    const group = terms.groups.findBytes(bytes, this.#from, this.#to)
    if (group < 0 || live[group] !== 1 || !this.#is(COMMA)) return false
    if (!this.#has(SPEC) || !this.#text()) return false
    const spec = terms.specs.findBytes(bytes, this.#from, this.#to)
    if (spec < 0 || live[spec] !== 1 || !this.#is(COMMA)) return false
    query.reset(offering, group, spec)
    if (!this.#has(CHAR_VALUES) || !this.#conditions(terms, live, query)) return false
    if (this.idTo < 0 && this.#is(COMMA) && !(this.#has(ID) && this.#id())) return false
    return this.#is(CLOSE)
  }

  #conditions(terms: Words['terms'], live: Uint8Array, query: Query): boolean {
    if (this.#is(CLOSE_LIST)) return true
    const bytes = this.#bytes
    for (;;) {
      if (query.count === MAX_CONDITIONS || !this.#is(OPEN) || !this.#has(CHAR) || !this.#text()) return false
      const char = terms.chars.findBytes(bytes, this.#from, this.#to)
      if (char < 0 || live[char] !== 1 || !this.#is(COMMA) || !this.#has(VALUE) || !this.#text()) return false
      const value = terms.textsOf(char).findBytes(bytes, this.#from, this.#to)
      if (value < 0 || live[value] !== 1 || !this.#is(CLOSE)) return false
      query.values[query.count++] = value
      if (this.#is(CLOSE_LIST)) return true
      if (!this.#is(COMMA)) return false
    }
  }

  #id(): boolean {
    if (!this.#text() || !this.#isPlain()) return false
    this.idFrom = this.#from
    this.idTo = this.#to
    return true
  }

  #is(byte: number): boolean {
    if (this.#at >= this.#limit || this.#bytes[this.#at] !== byte) return false
    this.#at++
    return true
  }

  #has(expected: Buffer): boolean {
    const { length } = expected
    const at = this.#at
    if (at + length > this.#limit) return false
    const bytes = this.#bytes
    for (let i = 0; i < length; i++) if (bytes[at + i] !== expected[i]) return false
    this.#at = at + length
    return true
  }

  /** Takes a text whose opening quote has been taken. What is in it is for a table to recognise, which knows plain texts only. */
  #text(): boolean {
    const bytes = this.#bytes
    const end = this.#limit
    let at = this.#at
    this.#from = at
    while (at < end && bytes[at] !== QUOTE) at++
    this.#to = at
    this.#at = at + 1
    const length = at - this.#from
    return at < end && length > 0 && length <= MAX_TEXT
  }

  /** Whether the last text stands for itself: ASCII, and nothing escaped. */
  #isPlain(): boolean {
    const bytes = this.#bytes
    for (let at = this.#from; at < this.#to; at++) {
      const byte = bytes[at]!
      if (byte < 32 || byte === BACKSLASH || byte >= DELETE) return false
    }
    return true
  }
}
