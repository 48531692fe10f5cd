import { Literal } from '../core/bytes/literal.ts'
import { MAX_CONDITIONS, MAX_TEXT_LENGTH } from '../core/price.ts'
import type { SearchQuery } from '../core/search-query.ts'
import type { Dictionary } from './resolve-request.ts'
import type { Terms } from '../core/terms.ts'
import type { TextTable } from '../core/text-table.ts'

const QUOTE = 34
const BACKSLASH = 92
const DELETE = 127
const ZERO = 48
const NINE = 57

const FIRST_ID = new Literal('{"id":')
const FIRST_OFFERING = new Literal('{"offeringId":"')
const OFFERING = new Literal(',"offeringId":"')
const GROUP = new Literal('","groupId":"')
const SPEC = new Literal('","priceSpecId":"')
const CHAR_VALUES = new Literal('","charValues":[')
const FIRST_CHAR = new Literal('{"char":"')
const CHAR = new Literal('"},{"char":"')
const VALUE = new Literal('","value":"')
const NO_VALUES = new Literal(']')
const END_OF_VALUES = new Literal('"}]')
const ID = new Literal(',"id":')
const END = new Literal('}')
const NO_VIEW = new DataView(new ArrayBuffer(0))
const NOT_FOUND = -1

/**
 * Parses a search of exactly the usual shape from its bytes directly into terms: the output of JSON.stringify for
 * `{id?, offeringId, groupId, priceSpecId, charValues: [{char, value}...]}` (the id first or last). All values must be
 * text, the id text or digits, all text must be ASCII without escapes, and each term must occur in at least one row.
 * JSON.parse handles any other request.
 */
export class RequestScanner {
  #bytes: Buffer = Buffer.alloc(0)
  #view: DataView = NO_VIEW
  #end = 0
  #at = 0
  /** The range of the request's id as JSON, with the quotes of a text; `idTo` is -1 if it has none. */
  idFrom = 0
  idTo = -1
  // By position in the request: the last characteristic at this position, and the text around its name. Most requests
  // name the same characteristics in the same order, and then need one comparison.
  #terms: Terms | undefined
  #cachedChars: number[] = []
  #cachedTexts: Literal[] = []

  /** The end of the last request. */
  get end(): number {
    return this.#at
  }

  /**
   * @returns true if the bytes from `start` on begin with such a request; if false, the contents of `query` are
   * undefined
   */
  scan(bytes: Buffer, start: number, { terms, usedTerms }: Dictionary, query: SearchQuery): boolean {
    if (bytes !== this.#bytes) {
      this.#bytes = bytes
      this.#end = bytes.length
      this.#view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength)
    }
    if (terms !== this.#terms) {
      this.#terms = terms
      this.#cachedChars = []
    }
    this.#at = start
    this.idTo = -1
    if (this.#skip(FIRST_ID)) {
      if (!this.#readId() || !this.#skip(OFFERING)) return false
    } else if (!this.#skip(FIRST_OFFERING)) return false
    const offering = this.#term(terms.offerings, usedTerms)
    if (offering < 0 || !this.#skip(GROUP)) return false
    const group = this.#term(terms.groups, usedTerms)
    if (group < 0 || !this.#skip(SPEC)) return false
    const spec = this.#term(terms.specs, usedTerms)
    if (spec < 0 || !this.#skip(CHAR_VALUES)) return false
    query.reset(offering, group, spec)
    if (!this.#readConditions(terms, usedTerms, query)) return false
    if (this.idTo < 0 && this.#skip(ID)) return this.#readId() && this.#skip(END)
    return this.#skip(END)
  }

  #readConditions(terms: Terms, usedTerms: Uint8Array, query: SearchQuery): boolean {
    if (this.#skip(NO_VALUES)) return true
    for (;;) {
      const char = this.#char(terms, query.count)
      if (char < 0 || !(usedTerms[char]! > 0)) return false
      const value = this.#term(terms.getTexts(char), usedTerms)
      if (value < 0) return false
      query.values[query.count++] = value
      if (this.#skip(END_OF_VALUES)) return true
      if (query.count === MAX_CONDITIONS) return false
    }
  }

  /** Reads the part of a condition before its value, and returns its characteristic. */
  #char(terms: Terms, position: number): number {
    const cached = this.#cachedChars[position]
    if (cached !== undefined && this.#skip(this.#cachedTexts[position]!)) return cached
    const start = this.#at
    if (!this.#skip(position === 0 ? FIRST_CHAR : CHAR)) return NOT_FOUND
    const char = terms.chars.findBytes(this.#bytes, this.#view, this.#at)
    if (char < 0) return NOT_FOUND
    this.#at = terms.chars.end
    if (!this.#skip(VALUE)) return NOT_FOUND
    this.#cachedChars[position] = char
    this.#cachedTexts[position] = new Literal(this.#bytes.toString('latin1', start, this.#at))
    return char
  }

  /** Reads a text, and returns its term if at least one row has it. */
  #term(table: TextTable, usedTerms: Uint8Array): number {
    const term = table.findBytes(this.#bytes, this.#view, this.#at)
    if (term < 0 || usedTerms[term] !== 1) return NOT_FOUND
    this.#at = table.end
    return term
  }

  /** Reads an id: a text of ASCII characters without escapes, or digits. */
  #readId(): boolean {
    const from = this.#at
    const to = this.#bytes[from] === QUOTE ? this.#findTextEnd(from + 1) : this.#findDigitsEnd(from)
    if (to < 0) return false
    this.#at = to
    this.idFrom = from
    this.idTo = to
    return true
  }

  #findTextEnd(from: number): number {
    const bytes = this.#bytes
    let to = from
    for (; bytes[to] !== QUOTE; to++) {
      const byte = bytes[to]
      if (byte === undefined || byte < 32 || byte === BACKSLASH || byte >= DELETE) return NOT_FOUND
    }
    return to === from || to - from > MAX_TEXT_LENGTH ? NOT_FOUND : to + 1
  }

  #findDigitsEnd(from: number): number {
    const bytes = this.#bytes
    let to = from
    while (bytes[to]! >= ZERO && bytes[to]! <= NINE) to++
    const isValid = to - from === 1 || (to > from && bytes[from] !== ZERO && to - from <= MAX_TEXT_LENGTH)
    return isValid ? to : NOT_FOUND
  }

  #skip(expected: Literal): boolean {
    if (!expected.isAt(this.#view, this.#at, this.#end)) return false
    this.#at += expected.length
    return true
  }
}
