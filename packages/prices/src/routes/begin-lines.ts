import { getReplyHeaders } from '@influencer-stats/runtime/stream-reply'
import type { FastifyReply } from 'fastify'

export const LINES_TYPE = 'application/x-ndjson'
export const CSV_TYPE = 'text/csv'

/** Writes the head of a reply whose body is streamed as lines. The caller writes the body. */
export function beginLines(reply: FastifyReply, type = LINES_TYPE): void {
  reply.hijack()
  reply.raw.writeHead(200, [...getReplyHeaders(reply), 'content-type', type, 'x-content-type-options', 'nosniff'])
}
