import type { Server } from 'node:http'
import type { Socket } from 'node:net'
import type { StreamConnection } from '../hot-route.ts'
import { isInFlight } from './in-flight.ts'

const SECURE_EVENT = 'secureConnection'
// A request that arrives between the last read and the close of its connection is lost. 64 closes take about 1 ms.
const MAX_CLOSED_PER_TURN = 64

/** Returns the server's event for a connection that can carry requests. With TLS, that is after the handshake. */
export const getConnectionEvent = (server: Server): string =>
  'setSecureContext' in server ? SECURE_EVENT : 'connection'

/** Identifies a connection: its plain socket and its TLS socket have the same key. */
const toPeerKey = ({ remoteAddress, remotePort }: Socket) => `${remoteAddress} ${remotePort}`

type CloseHandler<Connection> = (this: Connection) => void

/** The open connections of an HTTP server. */
export interface ConnectionTracker {
  readonly isEmpty: boolean
  /**
   * Sets the function that is called when a connection has closed; it replaces the earlier function. A listener of
   * `close` in addition to the tracker's own would take 104 bytes of each stream, for a list of two listeners.
   */
  setCloseHandler(socket: Socket, handler: CloseHandler<Socket> | undefined): void
  /**
   * Closes connections without a request in flight, at most 64 per call. These are idle or new, or have sent only a part
   * of a head. A request is in flight once its whole head has arrived.
   * @param isSpared true for a connection that stays open
   * @returns true if more may follow
   */
  closeIdle(isSpared: (socket: Socket) => boolean): boolean
  closeAll(): void
}

const TRACKER = Symbol('connection tracker')

interface TrackedServer extends Server {
  [TRACKER]?: ConnectionTracker
}

/** Sets the function that is called when the connection of a stream has closed. */
export function setCloseHandler(connection: StreamConnection, handler: CloseHandler<StreamConnection>): void {
  const tracker = (connection as { readonly server?: TrackedServer }).server?.[TRACKER]
  if (tracker) tracker.setCloseHandler(connection as Socket, handler)
  else connection.on('close', handler)
}

/**
 * Tracks the connections that a server accepts from the first call on. Further calls return the same tracker. Node's
 * own `closeIdleConnections` skips connections that have not sent a whole head yet. One connection that a browser
 * opened in advance would delay the exit until `headersTimeout`.
 */
export function trackConnections(server: TrackedServer): ConnectionTracker {
  return (server[TRACKER] ??= createTracker(server))
}

function createTracker(server: Server): ConnectionTracker {
  const closeHandlers = new Map<Socket, CloseHandler<Socket> | undefined>()
  const handshakes = new Map<string, Socket>()
  // Shared by all sockets, so that a connection costs no closure.
  function onClose(this: Socket): void {
    const handler = closeHandlers.get(this)
    closeHandlers.delete(this)
    if (handler) Reflect.apply(handler, this, [])
  }
  server.on(getConnectionEvent(server), (socket: Socket) => {
    closeHandlers.set(socket, undefined)
    socket.on('close', onClose)
  })
  if (getConnectionEvent(server) === SECURE_EVENT) {
    server.on('connection', (socket: Socket) => {
      const key = toPeerKey(socket)
      handshakes.set(key, socket)
      socket.on('close', () => handshakes.get(key) === socket && handshakes.delete(key))
    })
    server.on(SECURE_EVENT, (socket: Socket) => handshakes.delete(toPeerKey(socket)))
  }

  return {
    get isEmpty() {
      return closeHandlers.size === 0 && handshakes.size === 0
    },
    setCloseHandler(socket, handler) {
      closeHandlers.set(socket, handler)
    },
    closeIdle(isSpared) {
      let closed = 0
      for (const socket of [...closeHandlers.keys(), ...handshakes.values()]) {
        if (socket.destroyed || isInFlight(server, socket) || isSpared(socket)) continue
        if (closed++ === MAX_CLOSED_PER_TURN) return true
        socket.destroy()
      }
      return false
    },
    closeAll() {
      for (const socket of [...closeHandlers.keys(), ...handshakes.values()]) socket.destroy()
    },
  }
}
