import type { ReplyCache } from '../raw/cached-reply.ts'
import type { LoadRequest } from '../load-plan.ts'

/** A request as bytes. */
export interface ReadyRequest extends ReplyCache {
  readonly bytes: Buffer
  /** True if its replies have no body (HEAD). */
  readonly bodiless: boolean
  /** Check of the replies to this request, in addition to the check of all replies. */
  readonly isRight?: ((body: Buffer, status?: number) => boolean) | undefined
}

/**
 * Returns a function that creates one random request after the other.
 * @param common header lines of all requests, `Host` included
 * @param random returns numbers from 0 (inclusive) to 1 (exclusive)
 */
export type Drawer = (common: string, random: () => number) => () => ReadyRequest

/** Creates a request that is sent only once, so its reply is not cached. */
export const createDrawnRequest = (bytes: Buffer, isRight?: ReadyRequest['isRight']): ReadyRequest => {
  return { bytes, bodiless: false, cached: undefined, misses: Infinity, isRight }
}

const METHODS_WITH_BODY = new Set(['PUT', 'POST', 'PATCH'])

/** Formats a request that is sent repeatedly. */
export function prepareRequest(host: string, { method, path, headers = {}, body }: LoadRequest): ReadyRequest {
  const lines = [`${method} ${path} HTTP/1.1`]
  const given = new Set(Object.keys(headers).map((name) => name.toLowerCase()))
  if (!given.has('host')) lines.push(`Host: ${host}`)
  for (const [name, value] of Object.entries(headers)) lines.push(`${name}: ${value}`)
  if ((body !== undefined || METHODS_WITH_BODY.has(method)) && !given.has('content-length')) {
    lines.push(`Content-Length: ${Buffer.byteLength(body ?? '')}`)
  }
  const bytes = Buffer.from(`${lines.join('\r\n')}\r\n\r\n${body ?? ''}`)
  return { bytes, bodiless: method === 'HEAD', cached: undefined, misses: 0 }
}
