import type { FastifyReply } from 'fastify'
import { once } from 'node:events'
import type { ServerResponse } from 'node:http'

/** The headers that hooks have set on a reply, as a flat list: a route that writes to `reply.raw` sends them along. */
export const headersOf = (reply: FastifyReply): string[] => Object.entries(reply.getHeaders()).flat().map(String)

export interface PiecesOptions {
  /** Called when the first piece is there, or it is known that there is none: sends the head. */
  readonly begin: () => void
  /** How long a client may take for 256 KiB (ms). */
  readonly timeout: number
  /** What goes after the last piece. */
  readonly end?: string
}

// A client has the time for one write for each so many bytes of it.
const PIECE = 262_144

/**
 * Sends a reply piece by piece, each only when the client has taken the one before. Rejects only before anything was
 * sent; a later fault cuts the connection, so that the client cannot take a part for the whole, and so does a client
 * that takes less than 256 KiB in `timeout` ms: as long as it has not taken all, nothing of what is sent as it was when
 * that began can be thrown away.
 * @param next the next piece; nothing at the end. It is asked for while the one before is sent
 */
export async function sendPieces(
  next: () => Promise<string | Uint8Array | undefined>,
  response: ServerResponse,
  { begin, timeout, end = '' }: PiecesOptions,
): Promise<void> {
  try {
    let piece = await next()
    begin()
    while (piece !== undefined && !response.destroyed) {
      const following = next()
      following.catch(() => {})
      if (!response.write(piece)) await drained(response, timeout)
      piece = await following
    }
    response.end(end)
  } catch (error) {
    if (!response.headersSent) throw error
    response.destroy()
  }
}

/** Resolves when the client has taken what was sent, or is gone; one that does not take it in time is cut. */
async function drained(response: ServerResponse, timeout: number): Promise<void> {
  const waiting = new AbortController()
  const { signal } = waiting
  if (response.destroyed) return
  const pieces = Math.ceil(response.writableLength / PIECE)
  const deadline = setTimeout(() => response.destroy(), timeout * pieces)
  try {
    await Promise.race([once(response, 'drain', { signal }), once(response, 'close', { signal })])
  } finally {
    clearTimeout(deadline)
    waiting.abort()
  }
}
