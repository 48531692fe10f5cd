import type { Server } from 'node:http'
import type { Socket } from 'node:net'
import { isInFlight } from './in-flight.ts'

const SECURE_EVENT = 'secureConnection'

/** The event by which a server tells of a connection that requests can come on: with TLS, one whose handshake is done. */
export const getConnectionEvent = (server: Server): string =>
  'setSecureContext' in server ? SECURE_EVENT : 'connection'

/** What a connection and its TLS have in common. */
const toPeerKey = ({ remoteAddress, remotePort }: Socket) => `${remoteAddress} ${remotePort}`

/** The open connections of an HTTP server. */
export interface ConnectionTracker {
  /** Ends the connections without a request in flight, one whose head has arrived: idle, fresh, or halfway in a head. */
  closeIdle(): void
  closeAll(): void
}

/**
 * Follows a server's connections. Node's own `closeIdleConnections` spares those that have not sent a whole head yet,
 * so one connection that a browser opened in advance would hold the end up until `headersTimeout`.
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
      const end = toPeerKey(socket)
      handshakes.set(end, socket)
      socket.on('close', () => handshakes.get(end) === socket && handshakes.delete(end))
    })
    server.on(SECURE_EVENT, (socket: Socket) => handshakes.delete(toPeerKey(socket)))
  }

  return {
    closeIdle() {
      for (const socket of sockets) if (!isInFlight(socket)) socket.destroy()
      for (const socket of handshakes.values()) socket.destroy()
    },
    closeAll() {
      for (const socket of [...sockets, ...handshakes.values()]) socket.destroy()
    },
  }
}
