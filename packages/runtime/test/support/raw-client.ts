import { once } from 'node:events'
import { connect, type Socket } from 'node:net'
import { onTestFinished } from 'vitest'
import { waitUntil } from './wait-until.ts'

/** A reply as received. */
export interface RawReply {
  readonly status: number
  readonly headers: Record<string, string>
  readonly body: string
}

/** A connection that sends exact texts. */
export interface RawClient {
  readonly socket: Socket
  send(text: string): void
  /** The next reply. Fails if the connection ends before the reply is complete. */
  reply(): Promise<RawReply>
  /** Resolves when the server has ended the connection. */
  readonly closed: Promise<void>
}

/** Opens a connection, which closes when the test ends. */
export async function openRawClient(port: number, options: { allowHalfOpen?: boolean } = {}): Promise<RawClient> {
  const socket = connect({ port, host: '127.0.0.1', ...options }).setEncoding('latin1')
  onTestFinished(() => void socket.destroy())
  let input = ''
  let ended = false
  const waiters: (() => void)[] = []
  const wake = () => waiters.splice(0).forEach((resume) => resume())
  socket.on('data', (text) => {
    input += text
    wake()
  })
  // A reset ends the connection too. Replies that arrived before it count.
  socket.on('error', () => {})
  const closed = new Promise<void>((resolve) => {
    socket.on('close', () => {
      ended = true
      wake()
      resolve()
    })
  })
  await new Promise<void>((resolve, reject) => socket.once('connect', resolve).once('error', reject))

  return {
    socket,
    closed,
    send: (text) => void socket.write(text, 'latin1'),
    async reply() {
      for (;;) {
        const whole = takeReply(input)
        if (whole) {
          input = whole.rest
          return whole.reply
        }
        if (ended) throw new Error(`the connection ended after ${JSON.stringify(input)}`)
        await new Promise<void>((resolve) => waiters.push(resolve))
      }
    },
  }
}

/** A client that reads no replies. */
export interface UnreadClient {
  readonly socket: Socket
  /** Resolves once the server has cut the connection. */
  cut(): Promise<unknown>
}

/** Sends `text` to a service and reads nothing. The connection is closed when the test ends. */
export async function openUnreadClient(url: string, text: string): Promise<UnreadClient> {
  const { hostname, port } = new URL(url)
  const socket = connect(Number(port), hostname)
  onTestFinished(() => void socket.destroy())
  let isCut = false
  socket.on('error', () => (isCut = true)).pause()
  await once(socket, 'connect')
  socket.write(text)
  // A connection that was cut answers further data with a reset.
  return { socket, cut: () => waitUntil(() => isCut || (socket.write('\r\n'), false)) }
}

/**
 * Takes one complete reply from `input`. Without a length it has no body: only streams have a body without a length.
 */
export function takeReply(input: string): { reply: RawReply; rest: string } | undefined {
  const end = input.indexOf('\r\n\r\n')
  if (end < 0) return undefined
  const [first = '', ...lines] = input.slice(0, end).split('\r\n')
  const headers = Object.fromEntries(
    lines.map((line) => [line.slice(0, line.indexOf(':')).toLowerCase(), line.slice(line.indexOf(':') + 1).trim()]),
  )
  const status = Number(first.split(' ')[1])
  const bodyEnd = end + 4 + Number(headers['content-length'] ?? 0)
  if (input.length < bodyEnd) return undefined
  return { reply: { status, headers, body: input.slice(end + 4, bodyEnd) }, rest: input.slice(bodyEnd) }
}

/** Sends `text` on a new connection. @returns the first reply */
export async function sendRawRequest(port: number, text: string): Promise<RawReply> {
  const client = await openRawClient(port)
  client.send(text)
  return client.reply()
}

/** Headers by name; `undefined` removes a default header. */
export type RawRequestHeaders = Record<string, string | undefined>

/** The text of a request with the headers that every request needs. */
export function formatRequest(method: string, path: string, headers: RawRequestHeaders = {}, body = ''): string {
  const all = {
    host: '127.0.0.1',
    ...(body ? { 'content-type': 'application/json', 'content-length': String(Buffer.byteLength(body)) } : {}),
    ...headers,
  }
  const lines = Object.entries(all).map(([name, value]) => (value === undefined ? '' : `${name}: ${value}\r\n`))
  return `${method} ${path} HTTP/1.1\r\n${lines.join('')}\r\n${body}`
}
