import type { FastifyReply } from 'fastify'
import { once } from 'node:events'
import type { ServerResponse } from 'node:http'
import type { Writable } from 'node:stream'

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
  /** Stream that the chunks are written to, such as a compressor. Default: the response. */
  readonly output?: Writable
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
  { begin, timeout, end = '', output = response }: SendChunksOptions,
): Promise<void> {
  try {
    let chunk = await next()
    begin()
    while (chunk !== undefined && !output.destroyed) {
      const following = next()
      following.catch(() => {})
      if (!output.write(chunk)) await waitForDrain(output, timeout)
      chunk = await following
    }
    output.end(end)
  } catch (error) {
    if (!response.headersSent) throw error
    output.destroy()
  }
}

/**
 * Resolves when the client has read the output or disconnects. A client that is too slow is disconnected: one that reads
 * a few bytes from time to time is not stalled.
 */
async function waitForDrain(output: Writable, timeout: number): Promise<void> {
  const waiting = new AbortController()
  const { signal } = waiting
  if (output.destroyed) return
  const chunkCount = Math.ceil(output.writableLength / CHUNK_BYTES)
  const deadline = setTimeout(() => output.destroy(), timeout * chunkCount)
  try {
    await Promise.race([once(output, 'drain', { signal }), once(output, 'close', { signal })])
  } finally {
    clearTimeout(deadline)
    waiting.abort()
  }
}
