import type { RequestHeaders } from './hot-route.ts'

// What the raw door reads by itself. Anything laxer is for Node's own parser, so that the two can never disagree about
// what a request says. Nothing in these patterns can match in two ways: they run in linear time.

const METHOD_NAMES = 'GET|HEAD|PUT|POST|DELETE'
const TOKEN = "[A-Za-z0-9!#$%&'*+\\-.^_`|~]+"
// Origin form, without a fragment.
const TARGET = '/[!"$-~]*'
const TEXT = '[\\t -~\\x80-\\xff]*'

const VERSION = ' HTTP/1.1\r\n'
const REQUEST_LINE = new RegExp(`(?:${METHOD_NAMES}) ${TARGET}${RegExp.escape(VERSION)}`, 'y')
// Where there is no value, there is one run of spaces, not two, which could share them in many ways.
const FIELD = new RegExp(`(${TOKEN}):[ \\t]*(?:([!-~\\x80-\\xff](?:${TEXT}[!-~\\x80-\\xff])?)[ \\t]*)?\\r\\n`, 'y')

/** A pattern for how a text may begin, nothing included. */
const buildBeginning = (text: string) =>
  Array.from(text).reduceRight((rest, letter) => `(?:${RegExp.escape(letter)}${rest})?`, '')

const METHOD_BEGINNING = METHOD_NAMES.split('|').map(buildBeginning).join('|')
const FIELDS_BEGINNING = `(?:${TOKEN}:${TEXT}\\r\\n)*(?:${TOKEN}(?::${TEXT}\\r?)?|\\r)?`
const AFTER_TARGET_PATTERN = ` (?:${buildBeginning('HTTP/1.1\r')}|HTTP/1\\.1\\r\\n${FIELDS_BEGINNING})`
/** A head that may go on: its request line or some of it, whole fields, and the beginning of one. */
const HEAD_BEGINNING = new RegExp(
  `^(?:${METHOD_BEGINNING}|(?:${METHOD_NAMES}) (?:${TARGET}(?:${AFTER_TARGET_PATTERN})?)?)$`,
)

/** Largest head (bytes). */
export const MAX_HEAD_BYTES = 8_192

/** A request line, and where the fields after it begin. */
export interface RequestLine {
  readonly method: string
  readonly target: string
  readonly end: number
}

export function readRequestLine(text: string, at: number): RequestLine | undefined {
  REQUEST_LINE.lastIndex = at
  // Not by groups: the array of what they match costs as much as matching.
  if (!REQUEST_LINE.test(text)) return undefined
  const end = REQUEST_LINE.lastIndex
  const space = text.indexOf(' ', at)
  return { method: text.slice(at, space), target: text.slice(space + 1, end - VERSION.length), end }
}

/** Whether what is left of a text may be the beginning of a request of this grammar. */
export function isBeginning(text: string, at: number): boolean {
  return text.length - at <= MAX_HEAD_BYTES && HEAD_BEGINNING.test(at === 0 ? text : text.slice(at))
}

/** A block of header fields: what it says, and how it is known again, whatever the length of the body. */
export interface FieldBlock {
  /** All but `content-length`. */
  readonly headers: RequestHeaders
  /** The text up to the digits of that length, and what follows them; the whole and nothing where there are none. */
  readonly before: string
  readonly after: string
}

// Each of these means that there is more to the request, or to the connection, than the door knows of.
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

/** Where the digits end that begin here, at most 15. */
export function findDigitsEnd(text: string, at: number): number {
  DIGITS.lastIndex = at
  DIGITS.test(text)
  return DIGITS.lastIndex
}

/** Reads a block of header fields, its empty line included. Nothing where any of it is for Node to judge. */
export function readFields(block: string): FieldBlock | undefined {
  const headers: Record<string, string> = {}
  FIELD.lastIndex = 0
  let end = 0
  for (let match = FIELD.exec(block); match; match = FIELD.exec(block)) {
    const name = match[1]!.toLowerCase()
    // Also for what every object has: nobody sends a field of the name `constructor`.
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
