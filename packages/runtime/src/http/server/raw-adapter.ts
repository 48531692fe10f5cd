import type { Server } from 'node:http'
import type { Socket } from 'node:net'
import { getConnectionEvent, trackConnections } from '../request/connection-tracker.ts'
import { RAW_CONNECTIONS, type RawServer } from '../request/in-flight.ts'
import type { CommonSettings } from '../../settings/settings.ts'
import type { AdapterHost, Endpoints } from './endpoint.ts'
import { ServerConnection } from './raw-connection.ts'
import type { RawAdapterHost } from './raw-host.ts'

const TICK_MS = 500
// Ticks after which a connection that has sent nothing, or a part of a request, passes to Node, whose timeouts end it.
const MAX_SILENT_TICKS = 2

type RawAdapterSettings = Pick<CommonSettings, 'keepAliveTimeout' | 'maxWriteBuffer' | 'sendTimeout'>

/**
 * Installs the raw server adapter ahead of an HTTP server. It reads the input of connections as text, and answers plain
 * requests of hot routes at half the cost of Node's own HTTP. A connection with any other input passes to Node's parser
 * permanently, with all bytes that are not answered. So the adapter itself never replies to an invalid request. The
 * server remains an `http.Server`: listening, draining, timeouts and connection counts work as without the adapter.
 */
export function installRawAdapter(
  server: RawServer,
  endpoints: Endpoints,
  host: AdapterHost,
  settings: RawAdapterSettings,
): void {
  const event = getConnectionEvent(server)
  const nodeListeners = server.listeners(event) as ((this: Server, socket: Socket) => void)[]
  server.removeAllListeners(event)
  const tracker = trackConnections(server)
  // A map instead of a property of the socket, which would take 48 bytes of each stream for its whole life.
  const connections = new Map<Socket, ServerConnection>()
  server[RAW_CONNECTIONS] = connections
  /**
   * Ticks at which connections were opened that have sent nothing, oldest first. Their state is created later, because
   * the garbage collector moves objects that exist between two events to the old generation: 170 bytes per stream.
   */
  const silentSince = new Map<Socket, number>()
  let tick = 0
  const keepAliveTicks = Math.ceil(settings.keepAliveTimeout / TICK_MS)

  const adapter: RawAdapterHost = {
    ...host,
    endpoints,
    keepAliveTimeout: settings.keepAliveTimeout,
    maxWriteBuffer: settings.maxWriteBuffer,
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
    limitSending(socket) {
      // A listener for `timeout` takes 40 bytes. It is added only here, so that most streams have none.
      if (socket.timeout === undefined) socket.on('timeout', destroySocket)
      // Before the timeout occurs, Node checks whether the client has received bytes meanwhile.
      socket.setTimeout(settings.sendTimeout)
    },
    release: detach,
  }

  function forget(socket: Socket): void {
    silentSince.delete(socket)
    connections.get(socket)?.releaseMemory()
    connections.delete(socket)
  }

  function detach(socket: Socket): void {
    forget(socket)
    if (socket.timeout) socket.setTimeout(0)
    socket.off('data', onData)
    socket.off('drain', onDrain)
    socket.off('timeout', destroySocket)
    tracker.setCloseHandler(socket, undefined)
  }

  // These listeners are shared by all sockets, so that a connection costs no closure.
  function onData(this: Socket, chunk: Buffer): void {
    let connection = connections.get(this)
    if (!connection) {
      silentSince.delete(this)
      connections.set(this, (connection = new ServerConnection(adapter, this)))
      this.on('drain', onDrain)
    }
    connection.take(chunk)
  }

  function onDrain(this: Socket): void {
    connections.get(this)!.onDrain()
  }

  /**
   * Called at the end of the input. A socket without a connection object is a stream, or has sent nothing: it is closed
   * here.
   */
  function onEnd(this: Socket): void {
    const connection = connections.get(this)
    if (connection) connection.end()
    else this.destroy()
  }

  function onClose(this: Socket): void {
    forget(this)
  }

  // One coarse timer for all connections: a timer for each connection would cost more than everything else of a
  // connection.
  const sweep = setInterval(() => {
    tick++
    for (const [socket, since] of silentSince) {
      if (tick - since <= MAX_SILENT_TICKS) break
      if (!socket.destroyed) adapter.handOver(socket, undefined, false)
    }
    for (const [socket, connection] of connections) {
      const silentFor = tick - connection.lastActiveTick
      if (silentFor <= MAX_SILENT_TICKS || connection.isBusy) continue
      if (connection.hasPartialRequest) connection.moveToNode()
      else if (silentFor > keepAliveTicks) socket.destroy()
    }
  }, TICK_MS).unref()
  server.once('close', () => clearInterval(sweep))

  server.on(event, (socket: Socket) => {
    silentSince.set(socket, tick)
    socket.on('error', doNothing)
    // Node's own listener has no effect with `allowHalfOpen`, and a list of two listeners takes 104 bytes.
    for (const listener of socket.listeners('end')) socket.off('end', listener as () => void)
    socket.on('end', onEnd)
    tracker.setCloseHandler(socket, onClose)
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

function destroySocket(this: Socket): void {
  this.destroy()
}

function doNothing(): void {}
