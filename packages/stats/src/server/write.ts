import type { ServerResponse } from 'node:http'
import type { Prepared } from '../core/prepared.ts'

/** Whether a client that has `etag` (its `If-None-Match`) need not be sent the reply again. */
export function isUnchanged(etag: string | undefined, { etag: current }: Prepared): boolean {
  if (etag === undefined) return false
  return etag === current || etag === '*' || etag.split(',').some((one) => one.trim().replace(/^W\//, '') === current)
}

/**
 * Sends a ready-made reply. One flat list of headers, handed to Node as it is: building them one by one through Fastify
 * costs 1 us more.
 *
 * @param hookHeaders what the house's hooks have set
 * @param etag the request's `If-None-Match`
 * @returns the status
 */
export function writePrepared(
  response: ServerResponse,
  prepared: Prepared,
  hookHeaders: readonly string[],
  etag: string | undefined,
): number {
  const age = Math.max(0, Math.floor((Date.now() - prepared.asOf) / 1000))
  const headers = [...hookHeaders, 'etag', prepared.etag, 'age', String(age), 'cache-control', 'no-cache']
  if (isUnchanged(etag, prepared)) {
    response.writeHead(304, headers).end()
    return 304
  }
  headers.push('content-type', 'application/json; charset=utf-8', 'content-length', prepared.length)
  response.writeHead(200, headers).end(prepared.body)
  return 200
}
