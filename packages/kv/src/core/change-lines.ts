import { describeJsonError, formatReceived } from '@influencer-stats/runtime/received-value'
import { isUtf8 } from 'node:buffer'
import { MAX_TIME_MS, MAX_TTL_S } from './key-limits.ts'

/** One change of a key. A `put` and a `del` have the form of an operation of a LevelDB batch. */
export type Op =
  | {
      readonly type: 'put'
      readonly key: Buffer
      readonly value: Buffer
      /** Time to expiry (ms). Without `ttl` and `expiresAt` the value does not expire. */
      readonly ttl?: number
      /** Expiry time (ms since 1970). Present only without `ttl`. */
      readonly expiresAt?: number
    }
  | { readonly type: 'del'; readonly key: Buffer }
  | {
      /**
       * Changes the expiry of a value, not the value. Without `ttl` and `expiresAt` it removes the expiry. It has no
       * effect on a key without a value.
       */
      readonly type: 'expire'
      readonly key: Buffer
      readonly ttl?: number
      readonly expiresAt?: number
    }

/** True if the change sets or removes an expiry explicitly. */
export const changesExpiry = (op: Op): boolean =>
  op.type === 'expire' || (op.type === 'put' && (op.ttl ?? op.expiresAt) !== undefined)

// Some line readers, such as Python's, end a line at these characters too. `JSON.stringify` escapes all other line
// ends.
const LINE_ENDS = /[\x85\u2028\u2029]/g

/**
 * True if JSON text contains U+0085, U+2028 or U+2029. This is fast: a text that V8 stores with one byte per character
 * needs only one search.
 */
export const hasLineEnds = (json: string): boolean =>
  json.includes('\x85') || json.includes('\u2028') || json.includes('\u2029')

/** Converts a string to JSON that no line reader splits: it also escapes U+0085, U+2028 and U+2029. */
export function quoteInLine(text: string): string {
  const json = JSON.stringify(text)
  if (!hasLineEnds(json)) return json
  return json.replace(LINE_ENDS, (end) => `\\u${end.charCodeAt(0).toString(16).padStart(4, '0')}`)
}

/**
 * Renders an entry as a line of NDJSON, which a batch accepts. The value is text if it is UTF-8, and if escapes make it
 * at most 50 % longer; otherwise it is base64. Without this limit, the line of a valid value could be too large for a
 * batch: a NUL takes six characters as text.
 * @param extra further JSON fields, with a leading comma
 * @param quote converts a string to JSON; may be `JSON.stringify` if the caller handles line ends
 */
export const toPutLine = (id: string, value: string | Buffer, extra = '', quote = quoteInLine): string =>
  `{"op":"put","id":${quote(id)},${toValueField(value, quote)}${extra}}\n`

/** Renders a value as the JSON field `value` or `valueBase64`. */
export function toValueField(value: string | Buffer, quote = quoteInLine): string {
  const text = toQuotedText(value, quote)
  return text === undefined ? `"valueBase64":"${Buffer.from(value).toString('base64')}"` : `"value":${text}`
}

/**
 * Renders an expiry time as the JSON field `expiresAt`, with a leading comma; an empty string if the entry does not
 * expire.
 */
export const toExpiryField = (expiresAt: number | undefined): string =>
  expiresAt === undefined ? '' : `,"expiresAt":${expiresAt}`

/** Returns a value as a JSON string; `undefined` if it is not UTF-8, or if escapes make it more than 50 % longer. */
function toQuotedText(value: string | Buffer, quote: (text: string) => string): string | undefined {
  if (typeof value !== 'string' && !isUtf8(value)) return undefined
  const plain = value.toString()
  const text = quote(plain)
  // An escape adds at most one byte per added character. So the lengths in characters, which are cheap, usually prove
  // that the escapes add at most 50 %. Only with many escapes the lengths in bytes decide.
  if ((text.length - plain.length - 2) * 2 <= plain.length) return text
  return (Buffer.byteLength(text) - 2) * 2 > Buffer.byteLength(value) * 3 ? undefined : text
}

/** Renders a change as a line of NDJSON. */
export function toOpLine(op: Op): string {
  const id = op.key.toString()
  if (op.type === 'del') return `{"op":"delete","id":${quoteInLine(id)}}\n`
  const expiry = op.ttl === undefined ? toExpiryField(op.expiresAt) : `,"ttl":${op.ttl / 1_000}`
  return op.type === 'put' ? toPutLine(id, op.value, expiry) : toExpireLine(id, expiry)
}

/**
 * Renders an expiry change as a line of NDJSON.
 * @param expiry field with a leading comma, as from `toExpiryField`; an empty string if the expiry is removed
 * @param extra further JSON fields, with a leading comma
 */
export const toExpireLine = (id: string, expiry: string, extra = ''): string =>
  `{"op":"expire","id":${quoteInLine(id)}${expiry || ',"expiresAt":null'}${extra}}\n`

/**
 * True if a text is base64. It searches for the first character that is not a base64 digit, because a pattern with
 * groups overflows the stack at 8 MB.
 */
function isBase64(text: string): boolean {
  const end = text.search(/[^A-Za-z0-9+/]/)
  return text.length % 4 === 0 && (end < 0 || (end >= text.length - 2 && /^==?$/.test(text.slice(end))))
}

const OP_FIELDS: Readonly<Record<string, readonly string[]>> = {
  put: ['op', 'id', 'value', 'valueBase64', 'ttl', 'expiresAt'],
  delete: ['op', 'id'],
  expire: ['op', 'id', 'ttl', 'expiresAt'],
}

/** Parses one line. @returns the change, or a description of the error */
export function parseLine(text: string): Op | string {
  let line: unknown
  try {
    line = JSON.parse(text)
  } catch {
    return describeJsonError(text, 'it')
  }
  if (typeof line !== 'object' || line === null || Array.isArray(line))
    return `it must be an object; received ${formatReceived(line)}`
  const { op, id, value, valueBase64, ttl, expiresAt } = line as Record<string, unknown>
  const fields = typeof op === 'string' && Object.hasOwn(OP_FIELDS, op) ? OP_FIELDS[op]! : undefined
  if (!fields) return `"op" must be one of ${Object.keys(OP_FIELDS).join(', ')}; received ${formatReceived(op)}`
  const unknownField = Object.keys(line).find((name) => !fields.includes(name))
  if (unknownField !== undefined)
    return `a ${op} has the unknown field ${formatReceived(unknownField)}; known: ${fields.join(', ')}`
  // UTF-8 cannot encode a lone surrogate. It would be stored as U+FFFD, which makes another key.
  if (typeof id !== 'string' || id === '' || !id.isWellFormed())
    return `"id" must be a string of at least 1 whole character; received ${formatReceived(id)}`
  const key = Buffer.from(id)
  if (op === 'delete') return { type: 'del', key }
  if (op === 'expire') return readExpire(key, ttl, expiresAt)
  if ((value === undefined) === (valueBase64 === undefined))
    return describeChoice('value', 'valueBase64', value !== undefined)
  const expiry = readExpiry(ttl, expiresAt)
  if (typeof expiry === 'string') return expiry
  if (value !== undefined) {
    if (typeof value !== 'string' || !value.isWellFormed())
      return `"value" must be a string of whole characters; received ${formatReceived(value)}`
    return { type: 'put', key, value: Buffer.from(value), ...expiry }
  }
  if (typeof valueBase64 !== 'string' || !isBase64(valueBase64))
    return `"valueBase64" must be base64 such as AAE=; received ${formatReceived(valueBase64)}`
  return { type: 'put', key, value: Buffer.from(valueBase64, 'base64'), ...expiry }
}

function readExpire(key: Buffer, ttl: unknown, expiresAt: unknown): Op | string {
  if ((ttl === undefined) === (expiresAt === undefined)) return describeChoice('ttl', 'expiresAt', ttl !== undefined)
  const expiry = ttl === null || expiresAt === null ? {} : readExpiry(ttl, expiresAt)
  return typeof expiry === 'string' ? expiry : { type: 'expire', key, ...expiry }
}

const describeChoice = (first: string, second: string, hasBoth: boolean) =>
  `it must have one of "${first}" and "${second}"; received ${hasBoth ? 'both' : 'neither'}`

const isCount = (value: unknown, max: number): value is number =>
  Number.isInteger(value) && (value as number) >= 1 && (value as number) <= max

function readExpiry(ttl: unknown, expiresAt: unknown): { ttl?: number; expiresAt?: number } | string {
  if (ttl !== undefined && expiresAt !== undefined) return describeChoice('ttl', 'expiresAt', true)
  if (ttl !== undefined)
    return isCount(ttl, MAX_TTL_S)
      ? { ttl: ttl * 1_000 }
      : `"ttl" must be a whole number of seconds from 1 to ${MAX_TTL_S}; received ${formatReceived(ttl)}`
  if (expiresAt !== undefined)
    return isCount(expiresAt, MAX_TIME_MS)
      ? { expiresAt }
      : `"expiresAt" must be a time in ms since 1970, from 1 to ${MAX_TIME_MS}; received ${formatReceived(expiresAt)}`
  return {}
}
