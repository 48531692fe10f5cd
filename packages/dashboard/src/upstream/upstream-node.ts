import { HttpClient, RequestTimeoutError } from '@influencer-stats/runtime/http-client'
import type { IncomingHttpHeaders, IncomingMessage } from 'node:http'
import { errors } from '../errors.ts'

export interface UpstreamRequest {
  readonly method: string
  /** The path with its query. */
  readonly path: string
  readonly headers: IncomingHttpHeaders
  readonly body?: Buffer | undefined
  readonly token: string | undefined
  /** Signal that aborts the request. */
  readonly signal?: AbortSignal
}

/** A reply whose body has not arrived yet. */
export interface UpstreamReply {
  readonly status: number
  readonly headers: Readonly<Record<string, string>>
  readonly body: IncomingMessage
  /** Aborts the reply: the rest of the body does not arrive. */
  abort(): void
}

/** Headers that are forwarded to a service (`REQUEST_HEADERS`) and back to a page. No other header is forwarded. */
const REQUEST_HEADERS = ['accept', 'content-type', 'if-match', 'if-none-match', 'last-event-id']
const RESPONSE_HEADERS = [
  'age',
  'allow',
  'cache-control',
  'content-disposition',
  'content-length',
  'content-type',
  'etag',
  'retry-after',
  'x-accel-buffering',
]

/** A client of one node of a service, for requests on behalf of pages. */
export class UpstreamNode {
  readonly #client: HttpClient

  /** @param timeout maximum time until a reply begins (ms) */
  constructor(url: string, timeout: number) {
    this.#client = new HttpClient(url, { timeout })
  }

  /** Resolves when the reply has begun. @throws Problem `SERVICE_UNREACHABLE`, `SERVICE_SLOW` */
  async request({ method, path, headers, body, token, signal }: UpstreamRequest): Promise<UpstreamReply> {
    const requestHeaders = {
      ...pickHeaders(headers, REQUEST_HEADERS),
      ...(token && { authorization: `Bearer ${token}` }),
      ...(body && { 'content-length': String(body.length) }),
    }
    try {
      const options = { method, headers: requestHeaders, body, signal, isStream: true }
      const reply = await this.#client.request(path, options)
      const responseHeaders = pickHeaders(reply.headers, RESPONSE_HEADERS)
      return { status: reply.statusCode!, headers: responseHeaders, body: reply, abort: () => void reply.destroy() }
    } catch (cause) {
      if (cause instanceof RequestTimeoutError) throw errors.SERVICE_SLOW()
      throw errors.SERVICE_UNREACHABLE(undefined, { cause, headers: { 'retry-after': '1' } })
    }
  }

  close(): void {
    this.#client.close()
  }
}

function pickHeaders(headers: IncomingHttpHeaders, names: readonly string[]): Record<string, string> {
  const found: Record<string, string> = {}
  for (const name of names) if (headers[name] !== undefined) found[name] = String(headers[name])
  return found
}
