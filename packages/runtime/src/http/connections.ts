import type { Server } from 'node:http'
import type { Socket } from 'node:net'
import { isInFlight } from './in-flight.ts'

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
  // Shared by all sockets, so that a connection costs no closure.
  function forget(this: Socket): void {
    sockets.delete(this)
  }
  server.on('connection', (socket: Socket) => {
    sockets.add(socket)
    socket.on('close', forget)
  })

  return {
    closeIdle() {
      for (const socket of sockets) if (!isInFlight(socket)) socket.destroy()
    },
    closeAll() {
      for (const socket of sockets) socket.destroy()
    },
  }
}
