// Not imported by name: an ESM import of node:http runs its lazy getters, which load 10 MB of WebSocket.
const { STATUS_CODES } = process.getBuiltinModule('node:http')

const statusLines = new Map<number, string>()

export function getStatusLine(status: number): string {
  let line = statusLines.get(status)
  if (line === undefined) statusLines.set(status, (line = `HTTP/1.1 ${status} ${STATUS_CODES[status]}\r\n`))
  return line
}

/** Header fields, as Node writes them. @param headers names and values in turn */
export function formatFields(headers: readonly string[]): string {
  let text = ''
  for (let i = 0; i < headers.length; i += 2) text += `${headers[i]}: ${headers[i + 1]}\r\n`
  return text
}

/** The end of each head: the date, how the connection goes on, an empty line. */
export interface HeadEnds {
  readonly keepAlive: string
  readonly closes: string
  /** Of a stream, whose head says itself how the connection goes on. */
  readonly bare: string
}

let ends: HeadEnds | undefined
let endsFor: number | undefined

/** Made once a second, as in Node. @param timeout how long an idle connection is kept (ms) */
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

/** A larger body goes out as it lies in memory: as a part of the text it would be copied twice. */
const MAX_TEXT_BODY_BYTES = 16_384

/** Whether a body is large enough to be counted until it is sent. */
export const isCounted = (body: string | Buffer): boolean => body.length > MAX_TEXT_BODY_BYTES

/** Whether a body is better not made a part of the text. */
export const isLarge = (body: string | Buffer): body is Buffer =>
  typeof body !== 'string' && body.length > MAX_TEXT_BODY_BYTES

/** A character a byte. */
export function toLatin1(body: string | Buffer): string {
  if (typeof body !== 'string') return body.toString('latin1')
  return Buffer.byteLength(body) === body.length ? body : Buffer.from(body).toString('latin1')
}
