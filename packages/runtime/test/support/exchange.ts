import { subscribe } from 'node:diagnostics_channel'
import { once } from 'node:events'
import { connect, type Socket } from 'node:net'
import { setImmediate as nextTurn } from 'node:timers/promises'
import { RAW_CONNECTIONS, type RawServer } from '../../src/http/request/in-flight.ts'
import { pending } from '../fixtures/hot-routes.ts'
import { startProcessClock } from './process-clock.ts'

/** The client's view of one connection. */
export interface Transcript {
  /** One character per byte, without the parts that differ between requests. */
  readonly text: string
  /** True if the connection was still open after all requests and replies. */
  readonly isOpen: boolean
  /** Text that arrived after the client ended its side; `undefined` if it did not. */
  readonly closingText: string | undefined
  /** True if the adapter `raw` still read the connection at the end. */
  readonly isRaw: boolean
}

// Both ends of every connection are in this process: so the test knows when a server has nothing more to send.
const accepted = new Map<string, Socket>()
subscribe('net.server.socket', (message) => {
  const { socket } = message as { socket: Socket }
  accepted.set(`${socket.localPort} ${socket.remotePort}`, socket)
})

// Fastify and Node defer some work by one or two turns of the event loop.
const QUIET_TURNS = 4
// A server that does not read bytes within this time never reads them (ms of this process's clock).
const UNREAD_TIMEOUT_MS = 100
const time = startProcessClock()

/** Waits until the server has read and answered everything, and the client has received all replies. */
async function waitUntilQuiet(client: Socket, server: Socket): Promise<void> {
  const state = () =>
    `${client.bytesWritten} ${client.writableLength} ${server.bytesRead} ${server.bytesWritten} ${client.bytesRead} ` +
    `${client.readableEnded} ${client.destroyed} ${server.destroyed} ${pending.count > 0}`
  const isSettled = () => {
    if (client.destroyed) return true
    if (pending.count > 0 || client.bytesRead !== server.bytesWritten) return false
    if (server.destroyed || server.writableEnded) return client.readableEnded
    return client.bytesWritten === server.bytesRead && client.writableLength === 0 && server.writableLength === 0
  }
  let last = ''
  let since = time()
  for (let turns = 0; turns < QUIET_TURNS; turns++) {
    await nextTurn()
    const now = state()
    if (now !== last) {
      since = time()
      turns = 0
    } else if (!isSettled() && time() - since < UNREAD_TIMEOUT_MS) turns = 0
    last = now
  }
}

const ID_OR_DATE = /^(x-request-id|date): .*$/gim

export interface ExchangeOptions {
  /** The client ends its side after the last request. */
  readonly halfCloses?: boolean
  /** Node's parser gets its input from JavaScript, as after the adapter `raw` hands a connection over. */
  readonly isHandedOver?: boolean
}

/** Sends each text in a separate read on a new connection. @returns the replies */
export async function runExchange(
  port: number,
  texts: readonly string[],
  { halfCloses = false, isHandedOver = false }: ExchangeOptions = {},
): Promise<Transcript> {
  const client = connect({ port, host: '127.0.0.1', allowHalfOpen: true, noDelay: true })
  let received = ''
  client.setEncoding('latin1').on('data', (text) => (received += text))
  client.on('error', () => {})
  const closed = new Promise<boolean>((resolve) => client.once('close', () => resolve(true)))
  await once(client, 'connect')
  const name = `${port} ${client.localPort}`
  while (!accepted.has(name)) await nextTurn()
  const server = accepted.get(name)!
  accepted.delete(name)
  if (isHandedOver) server.on('data', () => {})
  for (const text of texts) {
    if (client.readableEnded || client.destroyed) break
    client.write(text, 'latin1')
    await waitUntilQuiet(client, server)
  }
  const isRaw = (server as { server?: RawServer }).server?.[RAW_CONNECTIONS]?.has(server) === true
  const isOpen = !client.readableEnded && !client.destroyed
  const before = received.length
  if (halfCloses && isOpen) {
    client.end()
    let timer: NodeJS.Timeout
    const late = new Promise<boolean>((resolve) => (timer = setTimeout(resolve, 30_000, false)))
    if (!(await Promise.race([closed, late]))) received += '(the server never ends the connection)'
    clearTimeout(timer!)
  }
  client.destroy()
  await closed
  const plain = (text: string) => text.replace(ID_OR_DATE, '$1: -')
  return {
    text: plain(received.slice(0, before)),
    isOpen,
    isRaw,
    closingText: halfCloses && isOpen ? plain(received.slice(before)) : undefined,
  }
}
