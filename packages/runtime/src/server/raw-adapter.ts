import type { Server } from 'node:http'
import type { Socket } from 'node:net'
import { getConnectionEvent } from '../http/connection-tracker.ts'
import { RAW_CONNECTION } from '../http/in-flight.ts'
import type { CommonSettings } from '../settings/settings.ts'
import type { AdapterHost, Endpoints } from './endpoint.ts'
import { ServerConnection, type RawAdapterHost } from './raw-connection.ts'

const TICK_MS = 500
// A connection that has sent nothing, or half a request, goes to Node, whose time-outs end it (ticks).
const MAX_SILENT_TICKS = 2

type RawAdapterSettings = Pick<CommonSettings, 'keepAliveTimeout' | 'maxWriteBuffer' | 'sendTimeout'>

/** What the door knows of a connection lies on its socket, so that listeners can be shared by all. */
interface RawSocket extends Socket {
  [RAW_CONNECTION]?: ServerConnection | undefined
}

/**
 * Puts a door before an HTTP server: it reads what connections send, as text, and answers plain requests of hot routes
 * with half of what Node's own HTTP costs. A connection on which anything else comes is handed to Node's parser for good,
 * with all that is not answered, so the door never makes an error reply of its own. It stays one `http.Server`: listening,
 * draining, time-outs and counting connections hold.
 */
export function installRawAdapter(
  server: Server,
  endpoints: Endpoints,
  host: AdapterHost,
  settings: RawAdapterSettings,
): void {
  const event = getConnectionEvent(server)
  const next = server.listeners(event) as ((this: Server, socket: Socket) => void)[]
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
      for (const listener of next) Reflect.apply(listener, server, [socket])
      // After its end nothing can be put back; Node's listeners are told what came.
      if (ended) {
        if (unread) socket.emit('data', unread)
        // A turn later, as if it had been read behind it: with its end Node forgets what it is asked.
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

  // Coarse, and for all at once: a timer a connection would cost more than the rest of it.
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
  // What has begun to come is answered by who answers from now on.
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
 * Joins all bytes that have arrived, so that Node's parser gets them at once. If a body in the first of two pieces paused the
 * socket, the parser would read newer bytes from the system before the second piece.
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

/** Of a stream, whose connection is no longer the door's, the end. */
function onEnd(this: RawSocket): void {
  if (this[RAW_CONNECTION]) this[RAW_CONNECTION].end()
  else this.destroy()
}

function destroySocket(this: Socket): void {
  this.destroy()
}

function doNothing(): void {}
