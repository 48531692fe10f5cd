import type { IncomingMessage } from 'node:http'
import type { Socket } from 'node:net'

/** Number of checks within the time-out. */
const CHECKS_PER_TIMEOUT = 16

/** A connection with the counters of Node's handle. */
export interface CountedSocket extends Socket {
  /** The kernel has accepted `bytesWritten - writeQueueSize` bytes. Absent once the connection is closed. */
  readonly _handle?: {
    readonly bytesRead: number
    readonly bytesWritten: number
    readonly writeQueueSize: number
  } | null
}

const watched = new WeakSet<Socket>()

/**
 * Disconnects a client that receives no bytes for `timeout` (ms), until the socket drains. While the client still sends
 * its request, it is disconnected only if it sends no bytes either. Node's own timeout takes up to twice as long,
 * because it restarts once if the client received bytes at its beginning. Idempotent.
 */
export function cutStalled(socket: CountedSocket, timeout: number, request: Pick<IncomingMessage, 'complete'>): void {
  if (watched.has(socket)) return
  watched.add(socket)

  function countProgress(): number {
    const { bytesRead = 0, bytesWritten = 0, writeQueueSize = 0 } = socket._handle ?? {}
    return bytesWritten - writeQueueSize + (request.complete ? 0 : bytesRead)
  }
  let progress = countProgress()
  let idleChecks = 0
  const timer = setInterval(() => {
    const before = progress
    progress = countProgress()
    idleChecks = progress === before ? idleChecks + 1 : 0
    // The last bytes may have passed directly after the check before the first idle one.
    if (idleChecks === CHECKS_PER_TIMEOUT - 1) socket.destroy()
  }, timeout / CHECKS_PER_TIMEOUT)
  function stop(): void {
    clearInterval(timer)
    socket.off('drain', stop).off('close', stop)
    watched.delete(socket)
  }
  socket.on('drain', stop).on('close', stop)
}
