import type { FastifyReply, FastifyRequest } from 'fastify'
import type { Writable } from 'node:stream'
import { constants, createGzip, type Gzip } from 'node:zlib'
import { getHold, type Budget } from '../../memory/budget.ts'
import { isGzipAccepted } from '../request/accepts-gzip.ts'
import { getReplyHeaders } from './stream-reply.ts'

/** Memory of a compressor at level 1 (bytes). */
const COMPRESSOR_BYTES = 327_680

/** The output of a reply that is streamed. */
export interface ReplyOutput {
  /** The response itself, or a compressor in front of it. */
  readonly stream: Writable
  /** Sends the head, and takes the reply from Fastify. */
  begin(): void
  /** Sends all bytes that were written, without a delay for better compression. */
  flush(): void
}

/**
 * Opens the output of a reply that is streamed: with gzip if the client accepts it and the budget has memory for it.
 * @param type media type of the reply
 */
export function openReplyOutput(
  { headers, raw }: Pick<FastifyRequest, 'headers' | 'raw'>,
  reply: FastifyReply,
  budget: Budget,
  type: string,
): ReplyOutput {
  const isGzip = isGzipAccepted(headers['accept-encoding']) && getHold(raw, budget).take(COMPRESSOR_BYTES)
  const gzip = isGzip ? createCompressor(reply.raw) : undefined
  return {
    stream: gzip ?? reply.raw,
    begin() {
      reply.hijack()
      const fields = ['content-type', type, 'x-content-type-options', 'nosniff', 'vary', 'Accept-Encoding']
      if (gzip) fields.push('content-encoding', 'gzip')
      reply.raw.writeHead(200, [...getReplyHeaders(reply), ...fields])
    },
    flush: () => void gzip?.flush(constants.Z_SYNC_FLUSH),
  }
}

/** Creates a compressor whose end is that of the response. If one of them is destroyed, the other is too. */
function createCompressor(response: FastifyReply['raw']): Gzip {
  // Higher levels take several times as long, for prices that are at most a third smaller.
  const gzip = createGzip({ level: constants.Z_BEST_SPEED })
  gzip.once('close', () => gzip.readableEnded || response.destroy()).on('error', () => {})
  response.once('close', () => gzip.destroy())
  gzip.pipe(response)
  return gzip
}
