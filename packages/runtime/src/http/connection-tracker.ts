import type { Server } from 'node:http'
import type { Socket } from 'node:net'
import { isInFlight } from './in-flight.ts'

const SECURE_EVENT = 'secureConnection'

/** Returns the server's event for a connection that can carry requests. With TLS, that is after the handshake. */
export const getConnectionEvent = (server: Server): string =>
  'setSecureContext' in server ? SECURE_EVENT : 'connection'

/** Identifies a connection: its plain socket and its TLS socket have the same key. */
const toPeerKey = ({ remoteAddress, remotePort }: Socket) => `${remoteAddress} ${remotePort}`

/** The open connections of an HTTP server. */
export interface ConnectionTracker {
  /**
   * Closes all connections without a request in flight. These are idle or new, or have sent only a part of a head. A
   * request is in flight once its whole head has arrived.
   */
  closeIdle(): void
  closeAll(): void
}

/**
 * Tracks the connections of a server. Node's own `closeIdleConnections` skips connections that have not sent a whole
 * head yet. One connection that a browser opened in advance would delay the exit until `headersTimeout`.
 */
export function trackConnections(server: Server): ConnectionTracker {
  const sockets = new Set<Socket>()
  const handshakes = new Map<string, Socket>()
  // Shared by all sockets, so that a connection costs no closure.
  function removeSocket(this: Socket): void {
    sockets.delete(this)
  }
  server.on(getConnectionEvent(server), (socket: Socket) => {
    sockets.add(socket)
    socket.on('close', removeSocket)
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
    closeIdle() {
      for (const socket of sockets) if (!isInFlight(server, socket)) socket.destroy()
      for (const socket of handshakes.values()) socket.destroy()
    },
    closeAll() {
      for (const socket of [...sockets, ...handshakes.values()]) socket.destroy()
    },
  }
}
