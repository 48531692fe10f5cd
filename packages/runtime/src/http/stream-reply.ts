import type { FastifyReply } from 'fastify'
import { once } from 'node:events'
import type { ServerResponse } from 'node:http'

/** The headers that hooks have set on a reply, as a flat list: a route that writes to `reply.raw` sends them along. */
export const getReplyHeaders = (reply: FastifyReply): string[] => Object.entries(reply.getHeaders()).flat().map(String)

export interface SendChunksOptions {
  /** Sends the head. Called when the first chunk is available, or the reply is known to have none. */
  readonly begin: () => void
  /** How long a client may take for 256 KiB (ms). */
  readonly timeout: number
  /** Text sent after the last chunk. */
  readonly end?: string
}

// The client has `timeout` ms for each 256 KiB of buffered output.
const CHUNK_BYTES = 262_144

/**
 * Sends a reply piece by piece, each only when the client has taken the one before. Rejects only before anything was
 * sent; a later fault cuts the connection, so that the client cannot take a part for the whole, and so does a client
 * that takes less than 256 KiB in `timeout` ms: as long as it has not taken all, nothing of what is sent as it was when
 * that began can be thrown away.
 * @param next the next piece; nothing at the end. It is asked for while the one before is sent
 */
export async function sendChunks(
  next: () => Promise<string | Uint8Array | undefined>,
  response: ServerResponse,
  { begin, timeout, end = '' }: SendChunksOptions,
): Promise<void> {
  try {
    let chunk = await next()
    begin()
    while (chunk !== undefined && !response.destroyed) {
      const following = next()
      following.catch(() => {})
      if (!response.write(chunk)) await waitForDrain(response, timeout)
      chunk = await following
    }
    response.end(end)
  } catch (error) {
    if (!response.headersSent) throw error
    response.destroy()
  }
}

/** Resolves when the client has read the output or disconnects. A client that is too slow is disconnected. */
async function waitForDrain(response: ServerResponse, timeout: number): Promise<void> {
  const waiting = new AbortController()
  const { signal } = waiting
  if (response.destroyed) return
  const chunkCount = Math.ceil(response.writableLength / CHUNK_BYTES)
  const deadline = setTimeout(() => response.destroy(), timeout * chunkCount)
  try {
    await Promise.race([once(response, 'drain', { signal }), once(response, 'close', { signal })])
  } finally {
    clearTimeout(deadline)
    waiting.abort()
  }
}
