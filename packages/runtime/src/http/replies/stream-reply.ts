import type { FastifyReply } from 'fastify'
import { once } from 'node:events'
import type { ServerResponse } from 'node:http'

/**
 * Returns the headers that hooks have set on a reply, as a flat list. A route that writes to `reply.raw` must send them
 * itself.
 */
export function getReplyHeaders(reply: FastifyReply): string[] {
  const headers = reply.getHeaders()
  const fields: string[] = []
  for (const name of Object.keys(headers)) fields.push(name, String(headers[name]))
  return fields
}

export interface SendChunksOptions {
  /** Sends the head. Called when the first chunk is available, or when the reply has no chunk. */
  readonly begin: () => void
  /** Time that a client may take to receive 256 KiB (ms). */
  readonly timeout: number
  /** Text sent after the last chunk. */
  readonly end?: string
}

// The client may take `timeout` ms for each 256 KiB of buffered output.
const CHUNK_BYTES = 262_144

/**
 * Sends a reply in chunks. While the output buffer is full, the next chunk waits until the client has received the
 * earlier ones. An error before the head is sent rejects. A later error closes the connection, so that the client does
 * not mistake a part for the whole. A client that takes longer than `timeout` ms for 256 KiB is disconnected too, as is
 * one that receives nothing for `sendTimeout` (`createResponseClass`): the reply reads a snapshot, and until the reply ends the database cannot delete the data of the snapshot.
 * @param next returns the next chunk, or undefined at the end; called while the previous chunk is sent
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

/**
 * Resolves when the client has read the output or disconnects. A client that is too slow is disconnected: one that reads
 * a few bytes from time to time is not stalled.
 */
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
