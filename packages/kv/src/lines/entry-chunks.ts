import type { KvValueBytes } from '../core/stored-value.ts'

const NEWLINE = 0x0a
const CRLF = Buffer.from('\r\n')

/**
 * Entry of a scan. The value is a string or bytes, as it was read from the database. `expiresAt` (ms since 1970) is
 * absent if the value does not expire.
 */
export type StoredEntry = readonly [key: string, value: KvValueBytes, expiresAt?: number]

/** End of a body in the chunked coding. */
export const LAST_CHUNK = '0\r\n\r\n'

/**
 * Renders entries in the chunked coding, for one socket write. Each chunk is one entry: `key`, a newline,
 * `value`.
 */
export function toChunks(entries: readonly StoredEntry[]): string | Buffer {
  return entries.every(isTextEntry) ? toTextChunks(entries) : toByteChunks(entries)
}

const isTextEntry = (entry: StoredEntry): entry is readonly [string, string, number?] => typeof entry[1] === 'string'

/** Renders keys in the chunked coding, one chunk per key. */
export const toKeyChunks = (entries: readonly StoredEntry[]): string =>
  entries.map(([key]) => `${Buffer.byteLength(key).toString(16)}\r\n${key}\r\n`).join('')

function toTextChunks(entries: readonly (readonly [string, string, number?])[]): string {
  let text = ''
  for (const [key, value] of entries) {
    text += `${(Buffer.byteLength(key) + 1 + Buffer.byteLength(value)).toString(16)}\r\n${key}\n${value}\r\n`
  }
  return text
}

function toByteChunks(entries: readonly StoredEntry[]): Buffer {
  const buffers = entries.map(([key, value]) => ({
    key,
    keyLength: Buffer.byteLength(key),
    value: typeof value === 'string' ? Buffer.from(value) : value,
  }))
  let length = 0
  for (const { keyLength, value } of buffers) {
    const size = keyLength + 1 + value.length
    length += countHexDigits(size) + size + 2 * CRLF.length
  }
  const bytes = Buffer.allocUnsafe(length)
  let at = 0
  for (const { key, keyLength, value } of buffers) {
    at += bytes.write(`${(keyLength + 1 + value.length).toString(16)}\r\n${key}`, at)
    bytes[at++] = NEWLINE
    bytes.set(value, at)
    at += value.length
    bytes.set(CRLF, at)
    at += CRLF.length
  }
  return bytes
}

function countHexDigits(size: number): number {
  let digits = 1
  for (let remainder = size >>> 4; remainder > 0; remainder >>>= 4) digits++
  return digits
}
