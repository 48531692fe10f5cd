import type { Server } from 'node:http'
import type { Socket } from 'node:net'
import { getConnectionEvent } from '../http/connection-tracker.ts'
import { RAW_CONNECTION } from '../http/in-flight.ts'
import type { CommonSettings } from '../settings/settings.ts'
import type { AdapterHost, Endpoints } from './endpoint.ts'
import { ServerConnection, type RawAdapterHost } from './raw-connection.ts'

const TICK_MS = 500
// Ticks after which a connection that has sent nothing, or a part of a request, passes to Node, whose timeouts end it.
const MAX_SILENT_TICKS = 2

type RawAdapterSettings = Pick<CommonSettings, 'keepAliveTimeout' | 'maxWriteBuffer' | 'sendTimeout'>

/** State of the raw server adapter on the socket, so that all connections can share listeners. */
interface RawSocket extends Socket {
  [RAW_CONNECTION]?: ServerConnection | undefined
}

/**
 * Installs the raw server adapter ahead of an HTTP server. It reads the input of connections as text, and answers plain
 * requests of hot routes at half the cost of Node's own HTTP. A connection with any other input passes to Node's parser
 * permanently, with all bytes that are not answered. So the adapter itself never replies to an invalid request. The
 * server remains an `http.Server`: listening, draining, timeouts and connection counts work as without the adapter.
 */
export function installRawAdapter(
  server: Server,
  endpoints: Endpoints,
  host: AdapterHost,
  settings: RawAdapterSettings,
): void {
  const event = getConnectionEvent(server)
  const nodeListeners = server.listeners(event) as ((this: Server, socket: Socket) => void)[]
  server.removeAllListeners(event)
  const connections = new Map<Socket, ServerConnection>()
  let tick = 0
  const keepAliveTicks = Math.ceil(settings.keepAliveTimeout / TICK_MS)

  const adapter: RawAdapterHost = {
    ...host,
    endpoints,
    keepAliveTimeout: settings.keepAliveTimeout,
    maxWriteBuffer: settings.maxWriteBuffer,
    sendTimeout: settings.sendTimeout,
    get tick() {
      return tick
    },
    handOver(socket, unread, ended) {
      detach(socket)
      socket.off('error', doNothing)
      socket.off('end', onEnd)
      socket.pause()
      if (!ended) unshiftInput(socket, unread)
      for (const listener of nodeListeners) Reflect.apply(listener, server, [socket])
      // After the end of the input, no bytes can be put back into the socket. Node's listeners get them as an event.
      if (ended) {
        if (unread) socket.emit('data', unread)
        // `end` follows one turn later, as if it had been read after the bytes: at the end of the input, Node discards
        // unanswered requests.
        setImmediate(() => socket.emit('end'))
      }
      socket.resume()
    },
    release(socket) {
      detach(socket)
    },
  }

  function detach(socket: RawSocket): void {
    connections.delete(socket)
    socket[RAW_CONNECTION]?.releaseMemory()
    socket[RAW_CONNECTION] = undefined
    socket.setTimeout(0)
    socket.off('data', onData)
    socket.off('drain', onDrain)
    socket.off('timeout', destroySocket)
    socket.off('close', onClose)
  }

  function onClose(this: RawSocket): void {
    connections.delete(this)
    this[RAW_CONNECTION]?.releaseMemory()
  }

  // One coarse timer for all connections: a separate timer would cost more than the rest of a connection.
  const sweep = setInterval(() => {
    tick++
    for (const [socket, connection] of connections) {
      const silentFor = tick - connection.lastActiveTick
      if (silentFor <= MAX_SILENT_TICKS || connection.isBusy) continue
      if (connection.hasPartialRequest || socket.bytesRead === 0) connection.moveToNode()
      else if (silentFor > keepAliveTicks) socket.destroy()
    }
  }, TICK_MS).unref()
  server.once('close', () => clearInterval(sweep))
  // Requests that have arrived in part pass to Node and Fastify, which answer during a drain.
  host.lifecycle.drain.addEventListener('abort', () => {
    for (const connection of connections.values())
      if (connection.hasPartialRequest && !connection.isAnswering) connection.moveToNode()
  })

  server.on(event, (socket: RawSocket) => {
    const connection = new ServerConnection(adapter, socket)
    connections.set(socket, connection)
    socket[RAW_CONNECTION] = connection
    socket.on('error', doNothing)
    socket.on('end', onEnd)
    socket.on('close', onClose)
    socket.on('drain', onDrain)
    socket.on('timeout', destroySocket)
    socket.on('data', onData)
  })
}

/**
 * Puts all bytes that have arrived back into the socket, as one piece for Node's parser. If a body in the first of two
 * pieces paused the socket, the parser would read newer bytes from the system before the second piece.
 */
function unshiftInput(socket: Socket, unread: Buffer | undefined): void {
  const arrived: Buffer | null = socket.read()
  const pieces = [unread, arrived].filter((piece) => piece !== undefined && piece !== null)
  if (pieces.length > 0) socket.unshift(Buffer.concat(pieces))
}

// Shared by all sockets, so that a connection costs no closure.
function onData(this: RawSocket, chunk: Buffer): void {
  this[RAW_CONNECTION]!.take(chunk)
}

function onDrain(this: RawSocket): void {
  this[RAW_CONNECTION]!.onDrain()
}

/** Called at the end of the input. A stream no longer belongs to the adapter, and is closed here. */
function onEnd(this: RawSocket): void {
  if (this[RAW_CONNECTION]) this[RAW_CONNECTION].end()
  else this.destroy()
}

function destroySocket(this: Socket): void {
  this.destroy()
}

function doNothing(): void {}
