import type { Server } from 'node:http'
import type { Socket } from 'node:net'
import { connectionEvent } from '../http/connections.ts'
import { DOOR } from '../http/in-flight.ts'
import type { CommonSettings } from '../settings/settings.ts'
import type { DoorHost, Endpoints } from './endpoint.ts'
import { RawConnection, type ConnectionHost } from './raw-connection.ts'

const TICK = 500
// A connection that has sent nothing, or half a request, goes to Node, whose time-outs end it (ticks).
const SILENT_FOR = 2

type Settings = Pick<CommonSettings, 'keepAliveTimeout' | 'maxWriteBuffer' | 'sendTimeout'>

/** What the door knows of a connection lies on its socket, so that listeners can be shared by all. */
interface DoorSocket extends Socket {
  [DOOR]?: RawConnection | undefined
}

/**
 * Puts a door before an HTTP server: it reads what connections send, as text, and answers plain requests of hot routes
 * with half of what Node's own HTTP costs. A connection on which anything else comes is handed to Node's parser for good,
 * with all that is not answered, so the door never makes an error reply of its own. It stays one `http.Server`: listening,
 * draining, time-outs and counting connections hold.
 */
export function installRawDoor(server: Server, endpoints: Endpoints, host: DoorHost, settings: Settings): void {
  const event = connectionEvent(server)
  const next = server.listeners(event) as ((this: Server, socket: Socket) => void)[]
  server.removeAllListeners(event)
  const connections = new Map<Socket, RawConnection>()
  let tick = 0
  const keptFor = Math.ceil(settings.keepAliveTimeout / TICK)

  const door: ConnectionHost = {
    ...host,
    endpoints,
    keepAliveTimeout: settings.keepAliveTimeout,
    maxWriteBuffer: settings.maxWriteBuffer,
    sendTimeout: settings.sendTimeout,
    get tick() {
      return tick
    },
    handOver(socket, unread, ended) {
      letGo(socket)
      socket.off('error', ignore)
      socket.off('end', onEnd)
      socket.pause()
      if (!ended) putBack(socket, unread)
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
      letGo(socket)
    },
  }

  function letGo(socket: DoorSocket): void {
    connections.delete(socket)
    socket[DOOR]?.forget()
    socket[DOOR] = undefined
    socket.setTimeout(0)
    socket.off('data', onData)
    socket.off('drain', onDrain)
    socket.off('timeout', destroy)
    socket.off('close', onClose)
  }

  function onClose(this: DoorSocket): void {
    connections.delete(this)
    this[DOOR]?.forget()
  }

  // Coarse, and for all at once: a timer a connection would cost more than the rest of it.
  const sweep = setInterval(() => {
    tick++
    for (const [socket, connection] of connections) {
      const silentFor = tick - connection.seen
      if (silentFor <= SILENT_FOR || connection.isBusy) continue
      if (connection.holds || socket.bytesRead === 0) connection.leave()
      else if (silentFor > keptFor) socket.destroy()
    }
  }, TICK).unref()
  server.once('close', () => clearInterval(sweep))
  // What has begun to come is answered by who answers from now on.
  host.lifecycle.drain.addEventListener('abort', () => {
    for (const connection of connections.values()) if (connection.holds && !connection.isAnswering) connection.leave()
  })

  server.on(event, (socket: DoorSocket) => {
    const connection = new RawConnection(door, socket)
    connections.set(socket, connection)
    socket[DOOR] = connection
    socket.on('error', ignore)
    socket.on('end', onEnd)
    socket.on('close', onClose)
    socket.on('drain', onDrain)
    socket.on('timeout', destroy)
    socket.on('data', onData)
  })
}

/**
 * Joins all bytes that have arrived, so that Node's parser gets them at once. If a body in the first of two pieces paused the
 * socket, the parser would read newer bytes from the system before the second piece.
 */
function putBack(socket: Socket, unread: Buffer | undefined): void {
  const arrived: Buffer | null = socket.read()
  const pieces = [unread, arrived].filter((piece) => piece !== undefined && piece !== null)
  if (pieces.length > 0) socket.unshift(Buffer.concat(pieces))
}

// Shared by all sockets, so that a connection costs no closure.
function onData(this: DoorSocket, chunk: Buffer): void {
  this[DOOR]!.take(chunk)
}

function onDrain(this: DoorSocket): void {
  this[DOOR]!.drained()
}

/** Of a stream, whose connection is no longer the door's, the end. */
function onEnd(this: DoorSocket): void {
  if (this[DOOR]) this[DOOR].end()
  else this.destroy()
}

function destroy(this: Socket): void {
  this.destroy()
}

function ignore(): void {}
