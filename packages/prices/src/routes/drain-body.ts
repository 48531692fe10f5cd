import type { FastifyRequest } from 'fastify'

// What still comes of a request that was refused is read for so long, so that the client gets to read the answer (ms).
const MAX_DRAIN_MS = 1_000

/** Reads and drops what still comes of a request that was refused: while it waits to send, a client may not read the reply. */
export function drainBody({ raw }: FastifyRequest): void {
  raw.resume()
  setTimeout(() => raw.complete || raw.socket.destroy(), MAX_DRAIN_MS).unref()
}
