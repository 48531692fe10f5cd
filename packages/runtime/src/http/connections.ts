import type { IncomingMessage, Server, ServerResponse } from 'node:http'
import type { Socket } from 'node:net'
import type { Duplex } from 'node:stream'
import { isAnsweringOn } from '../door/answering.ts'

/** The open connections of an HTTP server. */
export interface Connections {
  /** From now on every reply says `Connection: close`, also those to requests that already came. */
  announceEnd(): void
  /** Ends the connections without a request in flight, one whose head has arrived: idle, fresh, or halfway in a head. */
  closeIdle(): void
  closeAll(): void
}

// Node keeps it on a socket from a request's head to the end of its reply.
const REPLY = '_httpMessage'

/** The reply that a connection waits for: a whole head has arrived, and not everything has been sent. */
export const pendingReply = (socket: Duplex) => (socket as { [REPLY]?: ServerResponse | null })[REPLY] ?? undefined

const dropKeepAlive = (_request: IncomingMessage, response: ServerResponse) => {
  response.shouldKeepAlive = false
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
    announceEnd() {
      server.prependListener('request', dropKeepAlive)
      for (const reply of [...sockets].map(pendingReply)) if (reply) reply.shouldKeepAlive = false
    },
    closeIdle() {
      for (const socket of sockets) if (!(isAnsweringOn(socket) ?? pendingReply(socket))) socket.destroy()
    },
    closeAll() {
      for (const socket of sockets) socket.destroy()
    },
  }
}
