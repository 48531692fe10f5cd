// Not imported by name: an ESM import of node:http runs its lazy getters, which load 10 MB of WebSocket.
const { STATUS_CODES } = process.getBuiltinModule('node:http')

let date = ''
let dateEnds = 0

/** The value of a `Date` field: made once a second. */
function dateNow(): string {
  const now = Date.now()
  if (now >= dateEnds) {
    date = new Date(now).toUTCString()
    dateEnds = now - (now % 1_000) + 1_000
  }
  return date
}

const statusLines = new Map<number, string>()

function statusLine(status: number): string {
  let line = statusLines.get(status)
  if (line === undefined) statusLines.set(status, (line = `HTTP/1.1 ${status} ${STATUS_CODES[status]}\r\n`))
  return line
}

/** The head of a reply, as Node writes it. @param last what says how the connection goes on */
export function headText(status: number, headers: readonly string[], last: string): string {
  let text = statusLine(status)
  for (let i = 0; i < headers.length; i += 2) text += `${headers[i]}: ${headers[i + 1]}\r\n`
  return `${text}Date: ${dateNow()}\r\n${last}\r\n`
}

export const CLOSE = 'Connection: close\r\n'

/** @param timeout how long an idle connection is kept (ms) */
export const keepAlive = (timeout: number): string =>
  `Connection: keep-alive\r\nKeep-Alive: timeout=${Math.floor(timeout / 1_000)}\r\n`

/** A larger body goes out as it lies in memory: as a part of the text it would be copied twice. */
const LARGEST_IN_TEXT = 16_384

/** Whether a body is better not made a part of the text. */
export const isLarge = (body: string | Buffer): body is Buffer =>
  typeof body !== 'string' && body.length > LARGEST_IN_TEXT

/** A character a byte. @param length of the body (bytes) */
export function toLatin1(body: string | Buffer, length: number): string {
  if (typeof body !== 'string') return body.toString('latin1')
  return length === body.length ? body : Buffer.from(body).toString('latin1')
}
