import type { Value } from './stored.ts'

const NEWLINE = 0x0a
const CRLF = Buffer.from('\r\n')

/** An entry of a scan: its value as text where it was read as such, else as bytes; when it expires (ms since 1970), if it does. */
export type Entry = readonly [key: string, value: Value, expiresAt?: number]

/** Ends a body of chunks. */
export const LAST_CHUNK = '0\r\n\r\n'

/** Entries as chunks of HTTP's chunked coding, one an entry: `key`, a newline, `value`. All in one piece, for one write. */
export function toChunks(entries: readonly Entry[]): string | Buffer {
  return entries.every(isText) ? textChunks(entries) : byteChunks(entries)
}

const isText = (entry: Entry): entry is readonly [string, string, number?] => typeof entry[1] === 'string'

/** Renders keys as chunks, one per key. */
export const toKeyChunks = (entries: readonly Entry[]): string =>
  entries.map(([key]) => `${Buffer.byteLength(key).toString(16)}\r\n${key}\r\n`).join('')

function textChunks(entries: readonly (readonly [string, string, number?])[]): string {
  let text = ''
  for (const [key, value] of entries) {
    text += `${(Buffer.byteLength(key) + 1 + Buffer.byteLength(value)).toString(16)}\r\n${key}\n${value}\r\n`
  }
  return text
}

function byteChunks(entries: readonly Entry[]): Buffer {
  const pieces = entries.map(([key, value]) => ({
    key,
    keyLength: Buffer.byteLength(key),
    value: typeof value === 'string' ? Buffer.from(value) : value,
  }))
  let length = 0
  for (const { keyLength, value } of pieces) {
    const size = keyLength + 1 + value.length
    length += hexDigits(size) + size + 2 * CRLF.length
  }
  const bytes = Buffer.allocUnsafe(length)
  let at = 0
  for (const { key, keyLength, value } of pieces) {
    at += bytes.write(`${(keyLength + 1 + value.length).toString(16)}\r\n${key}`, at)
    bytes[at++] = NEWLINE
    bytes.set(value, at)
    at += value.length
    bytes.set(CRLF, at)
    at += CRLF.length
  }
  return bytes
}

function hexDigits(size: number): number {
  let digits = 1
  for (let rest = size >>> 4; rest > 0; rest >>>= 4) digits++
  return digits
}
