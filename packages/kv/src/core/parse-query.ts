import { describeEncodingFault, formatReceived } from '@influencer-stats/runtime/received-value'
import { isUtf8 } from 'node:buffer'

/** A parsed query string. Values are UTF-8 bytes. */
export interface KvQuery {
  /** Description of the error in an invalid query string, which then has no parameters here. */
  readonly fault?: string
  readonly names: readonly string[]
  /** One value per name, of at least one byte. */
  readonly values: readonly Buffer[]
}

const EMPTY_QUERY: KvQuery = { names: [], values: [] }
const toFault = (fault: string): KvQuery => ({ fault, names: [], values: [] })

// Characters that need decoding, or are not ASCII.
const SPECIAL_CHARACTERS = /[%+\x80-\uffff]/

/**
 * Parses the text after the `?`: `name=value` pairs of percent-encoded UTF-8, with `+` for a space. An invalid escape,
 * bytes that are not UTF-8, or a repeated or empty parameter make the whole query invalid. The result then has a
 * `fault`; the function never throws, because Fastify calls it in its router.
 */
export function parseQuery(text: string): KvQuery {
  if (text === '') return EMPTY_QUERY
  const names: string[] = []
  const values: Buffer[] = []
  for (let from = 0; from <= text.length;) {
    const next = text.indexOf('&', from)
    const end = next < 0 ? text.length : next
    const equals = text.indexOf('=', from)
    if (equals < 0 || equals >= end - 1) return toFault(describeEmpty(text.slice(from, end)))
    const raw = text.slice(from, equals)
    const name = SPECIAL_CHARACTERS.test(raw) ? decode(raw)?.toString() : raw
    const value = decode(text.slice(equals + 1, end))
    if (name === undefined || !value) return toFault(describeEncodingFault(raw, text.slice(equals + 1, end)))
    if (names.includes(name)) return toFault(`${formatReceived(name)} must be given once; received twice`)
    names.push(name)
    values.push(value)
    from = end + 1
  }
  return { names, values }
}

const describeEmpty = (pair: string) =>
  `${formatReceived(pair.replace(/=$/, ''))} must have a value: name=value; received no value`

function decode(text: string): Buffer | undefined {
  if (!SPECIAL_CHARACTERS.test(text)) return Buffer.from(text, 'latin1')
  const bytes = Buffer.allocUnsafe(text.length)
  let length = 0
  for (let i = 0; i < text.length; i++) {
    let byte = text.charCodeAt(i)
    if (byte === 0x2b) byte = 0x20
    else if (byte === 0x25) {
      const hex = text.slice(i + 1, i + 3)
      if (!/^[0-9a-fA-F]{2}$/.test(hex)) return undefined
      byte = Number.parseInt(hex, 16)
      i += 2
    } else if (byte > 0xff) return undefined
    bytes[length++] = byte
  }
  const decoded = bytes.subarray(0, length)
  return isUtf8(decoded) ? decoded : undefined
}
