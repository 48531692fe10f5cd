import type { ReplyCache } from '../raw/cached-reply.ts'
import type { LoadRequest } from '../load-plan.ts'

/** A request made ready to be written again and again. */
export interface ReadyRequest extends ReplyCache {
  readonly bytes: Buffer
  /** Whether its replies have no body: HEAD. */
  readonly bodiless: boolean
  /** What its replies' bodies must be, beside what is expected of all; for drawn requests. */
  readonly isRight?: ((body: Buffer, status?: number) => boolean) | undefined
}

/**
 * Draws one request after the other.
 * @param common the lines of the headers that all have, Host among them
 * @param random gives numbers of at least 0 and less than 1
 */
export type Drawer = (common: string, random: () => number) => () => ReadyRequest

/** A request that is not sent twice: there is no reply to remember. */
export const createDrawnRequest = (bytes: Buffer, isRight?: ReadyRequest['isRight']): ReadyRequest => {
  return { bytes, bodiless: false, cached: undefined, misses: Infinity, isRight }
}

const METHODS_WITH_BODY = new Set(['PUT', 'POST', 'PATCH'])

/** Formats a request once. */
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
