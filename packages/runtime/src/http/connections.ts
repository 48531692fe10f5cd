import type { Server } from 'node:http'
import type { Socket } from 'node:net'
import { isInFlight } from './in-flight.ts'

const SECURE = 'secureConnection'

/** The event by which a server tells of a connection that requests can come on: with TLS, one whose handshake is done. */
export const connectionEvent = (server: Server): string => ('setSecureContext' in server ? SECURE : 'connection')

/** What a connection and its TLS have in common. */
const endOf = ({ remoteAddress, remotePort }: Socket) => `${remoteAddress} ${remotePort}`

/** The open connections of an HTTP server. */
export interface Connections {
  /** Ends the connections without a request in flight, one whose head has arrived: idle, fresh, or halfway in a head. */
  closeIdle(): void
  closeAll(): void
}

/**
 * Follows a server's connections. Node's own `closeIdleConnections` spares those that have not sent a whole head yet,
 * so one connection that a browser opened in advance would hold the end up until `headersTimeout`.
 */
export function trackConnections(server: Server): Connections {
  const sockets = new Set<Socket>()
  const handshakes = new Map<string, Socket>()
  // Shared by all sockets, so that a connection costs no closure.
  function forget(this: Socket): void {
    sockets.delete(this)
  }
  server.on(connectionEvent(server), (socket: Socket) => {
    sockets.add(socket)
    socket.on('close', forget)
  })
  if (connectionEvent(server) === SECURE) {
    server.on('connection', (socket: Socket) => {
      const end = endOf(socket)
      handshakes.set(end, socket)
      socket.on('close', () => handshakes.get(end) === socket && handshakes.delete(end))
    })
    server.on(SECURE, (socket: Socket) => handshakes.delete(endOf(socket)))
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
