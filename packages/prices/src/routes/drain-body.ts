import type { FastifyRequest } from 'fastify'

// Maximum time to read the rest of a refused request, so that the client can read the reply (ms).
const MAX_DRAIN_MS = 1_000

/** Reads and discards the rest of a refused request: a client that waits to send may not read the reply. */
export function drainBody({ raw }: FastifyRequest): void {
  raw.resume()
  setTimeout(() => raw.complete || raw.socket.destroy(), MAX_DRAIN_MS).unref()
}
