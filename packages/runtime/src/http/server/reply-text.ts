// Not imported by name: an ESM import of node:http runs its lazy getters, which load 10 MB of WebSocket.
const { STATUS_CODES } = process.getBuiltinModule('node:http')

const statusLines = new Map<number, string>()

export function getStatusLine(status: number): string {
  let line = statusLines.get(status)
  if (line === undefined) statusLines.set(status, (line = `HTTP/1.1 ${status} ${STATUS_CODES[status]}\r\n`))
  return line
}

/** Formats header fields as Node does. @param headers names and values alternate */
export function formatFields(headers: readonly string[]): string {
  let text = ''
  for (let i = 0; i < headers.length; i += 2) text += `${headers[i]}: ${headers[i + 1]}\r\n`
  return text
}

/** Alternatives for the end of a head: the date, the fields of the connection, an empty line. */
export interface HeadEnds {
  readonly keepAlive: string
  readonly closes: string
  /** For a stream, whose head already has the field `connection`. */
  readonly bare: string
}

let ends: HeadEnds | undefined
let endsFor: number | undefined

/**
 * Returns the ends of a head. They are cached until the second ends, as in Node.
 * @param timeout timeout of an idle connection (ms)
 */
export function getHeadEnds(timeout: number): HeadEnds {
  if (ends && endsFor === timeout) return ends
  const now = new Date()
  const date = `Date: ${now.toUTCString()}\r\n`
  setTimeout(() => (ends = undefined), 1_000 - now.getMilliseconds()).unref()
  endsFor = timeout
  ends = {
    keepAlive: `${date}Connection: keep-alive\r\nKeep-Alive: timeout=${Math.floor(timeout / 1_000)}\r\n\r\n`,
    closes: `${date}Connection: close\r\n\r\n`,
    bare: `${date}\r\n`,
  }
  return ends
}

/**
 * Largest Buffer that is sent as a part of the text (bytes). A larger Buffer would be copied twice. A string is always
 * a part of the text.
 */
const MAX_TEXT_BODY_BYTES = 16_384

/** True if a body is so large that it counts in the budget until it is sent. */
export const isCounted = (body: string | Buffer): boolean => body.length > MAX_TEXT_BODY_BYTES

/** True if a body is a Buffer that should not be a part of the text. */
export const isLarge = (body: string | Buffer): body is Buffer =>
  typeof body !== 'string' && body.length > MAX_TEXT_BODY_BYTES

/** Returns text with one character per byte. */
export function toLatin1(body: string | Buffer): string {
  if (typeof body !== 'string') return body.toString('latin1')
  return Buffer.byteLength(body) === body.length ? body : Buffer.from(body).toString('latin1')
}
