import type { RequestHeaders } from '../hot-route.ts'

// The grammar of requests that the raw server adapter reads itself. Every other request passes to Node's own parser, so
// that both parsers never interpret a request differently. No part of these patterns can match in two ways, so they run
// in linear time.

const METHOD_NAMES = 'GET|HEAD|PUT|POST|DELETE'
const TOKEN = "[A-Za-z0-9!#$%&'*+\\-.^_`|~]+"
// Only the origin form (`/path?query`), without a fragment.
const TARGET = '/[!"$-~]*'
const TEXT = '[\\t -~\\x80-\\xff]*'

const VERSION = ' HTTP/1.1\r\n'
const REQUEST_LINE = new RegExp(`(?:${METHOD_NAMES}) ${TARGET}${RegExp.escape(VERSION)}`, 'y')
// The value and the spaces after it are optional together. So only one part of the pattern matches the spaces of an
// empty value. Two parts could divide the same spaces in many ways.
const FIELD = new RegExp(`(${TOKEN}):[ \\t]*(?:([!-~\\x80-\\xff](?:${TEXT}[!-~\\x80-\\xff])?)[ \\t]*)?\\r\\n`, 'y')

/** Builds a pattern for all beginnings of a text, including the empty text. */
const buildBeginning = (text: string) =>
  Array.from(text).reduceRight((rest, letter) => `(?:${RegExp.escape(letter)}${rest})?`, '')

const METHOD_BEGINNING = METHOD_NAMES.split('|').map(buildBeginning).join('|')
const FIELDS_BEGINNING = `(?:${TOKEN}:${TEXT}\\r\\n)*(?:${TOKEN}(?::${TEXT}\\r?)?|\\r)?`
const AFTER_TARGET_PATTERN = ` (?:${buildBeginning('HTTP/1.1\r')}|HTTP/1\\.1\\r\\n${FIELDS_BEGINNING})`
/** An incomplete head: its request line or a part of it, whole fields, and the beginning of a field. */
const HEAD_BEGINNING = new RegExp(
  `^(?:${METHOD_BEGINNING}|(?:${METHOD_NAMES}) (?:${TARGET}(?:${AFTER_TARGET_PATTERN})?)?)$`,
)

/** Largest head (bytes). */
export const MAX_HEAD_BYTES = 8_192

/**
 * Returns the method with which a valid request line begins. Returns constants, because a slice of the text would be
 * hashed for the look-up of the method.
 */
function getMethod(text: string, at: number): string {
  switch (text[at]) {
    case 'G':
      return 'GET'
    case 'H':
      return 'HEAD'
    case 'D':
      return 'DELETE'
    default:
      return text[at + 1] === 'U' ? 'PUT' : 'POST'
  }
}

/** A request line, and the position at which the fields begin. */
export interface RequestLine {
  readonly method: string
  readonly target: string
  readonly end: number
}

export function readRequestLine(text: string, at: number): RequestLine | undefined {
  REQUEST_LINE.lastIndex = at
  // Without groups, because the array of their matches costs the same as the match itself.
  if (!REQUEST_LINE.test(text)) return undefined
  const end = REQUEST_LINE.lastIndex
  const method = getMethod(text, at)
  return { method, target: text.slice(at + method.length + 1, end - VERSION.length), end }
}

/** True if the rest of a text may be the beginning of a request of this grammar. */
export function isBeginning(text: string, at: number): boolean {
  return text.length - at <= MAX_HEAD_BYTES && HEAD_BEGINNING.test(at === 0 ? text : text.slice(at))
}

/** A block of header fields, and its text, by which the same block is recognized again for any `content-length`. */
export interface FieldBlock {
  /** All fields except `content-length`. */
  readonly headers: RequestHeaders
  /**
   * The text before the digits of `content-length`. Without that field, the whole text.
   */
  readonly before: string
  /** The text after the digits of `content-length`. Without that field, an empty text. */
  readonly after: string
}

// These fields require features of a request or a connection that the adapter does not have.
const ODD_FIELDS = new Set([
  'transfer-encoding',
  'content-encoding',
  'content-range',
  'expect',
  'upgrade',
  'proxy-connection',
  'http2-settings',
  'trailer',
])
const LENGTH_FIELD = /^content-length:[\t ]*(?=\d{1,15}[\t ]*\r$)/im
const DIGITS = /\d{0,15}/y

/** Returns the position after the digits that begin at `at`. There are at most 15. */
export function findDigitsEnd(text: string, at: number): number {
  DIGITS.lastIndex = at
  DIGITS.test(text)
  return DIGITS.lastIndex
}

/** Reads a block of header fields with its empty line. Undefined if Node must interpret a part of the block. */
export function readFields(block: string): FieldBlock | undefined {
  const headers: Record<string, string> = {}
  FIELD.lastIndex = 0
  let end = 0
  for (let match = FIELD.exec(block); match; match = FIELD.exec(block)) {
    const name = match[1]!.toLowerCase()
    // This also refuses the names of properties that every object has: no client sends a field with the name
    // `constructor`.
    if (name in headers || ODD_FIELDS.has(name)) return undefined
    headers[name] = match[2] ?? ''
    end = FIELD.lastIndex
  }
  const { 'content-length': length, ...otherHeaders } = headers
  if (end !== block.length - 2 || !otherHeaders.host) return undefined
  if (otherHeaders.connection !== undefined && otherHeaders.connection.toLowerCase() !== 'keep-alive') return undefined
  if (length === undefined) return { headers: otherHeaders, before: block, after: '' }
  const field = LENGTH_FIELD.exec(block)
  if (!field) return undefined
  const lengthAt = field.index + field[0].length
  return { headers: otherHeaders, before: block.slice(0, lengthAt), after: block.slice(findDigitsEnd(block, lengthAt)) }
}
