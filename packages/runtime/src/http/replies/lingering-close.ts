import type { IncomingMessage } from 'node:http'
import type { Socket } from 'node:net'

/** Maximum time that a client may take to send the rest of its request after the reply (ms). */
const LINGER_MS = 5_000
/** Maximum size of this rest (bytes), within one interval. */
const LINGER_BYTES = 67_108_864
const CHECK_INTERVAL_MS = 50

/**
 * Replaces the close after the last reply of a connection, if its request is still arriving. The rest is read and
 * discarded up to these limits. Otherwise unread bytes would reset the connection, and a client that sends its whole
 * request before it reads would lose the reply.
 */
export function lingerOnClose(socket: Socket, request: IncomingMessage): void {
  socket.destroySoon = () => {
    socket.end()
    const from = socket.bytesRead
    const until = performance.now() + LINGER_MS
    const timer = setInterval(() => {
      if (request.complete || socket.bytesRead - from > LINGER_BYTES || performance.now() > until) socket.destroy()
    }, CHECK_INTERVAL_MS).unref()
    socket.once('close', () => clearInterval(timer))
  }
}
