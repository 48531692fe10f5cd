import { request, Agent, type ClientRequest, type IncomingHttpHeaders, type IncomingMessage } from 'node:http'
import { request as secureRequest, Agent as SecureAgent } from 'node:https'
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
/** A reply without data for this time is aborted (ms). Streams have a heartbeat every 15 s. */
const STREAM_TIMEOUT_MS = 60_000

/** A client of one node of a service, for requests on behalf of pages. */
export class UpstreamNode {
  readonly #url: URL
  readonly #timeout: number
  readonly #agent: Agent
  readonly #send: typeof request

  /** @param timeout maximum time until a reply begins (ms) */
  constructor(url: string, timeout: number) {
    this.#url = new URL(url.replace(/\/$/, ''))
    this.#timeout = timeout
    const isSecure = this.#url.protocol === 'https:'
    this.#send = isSecure ? secureRequest : request
    this.#agent = new (isSecure ? SecureAgent : Agent)({ keepAlive: true })
  }

  /** Resolves when the reply has begun. @throws Problem `SERVICE_UNREACHABLE`, `SERVICE_SLOW` */
  request({ method, path, headers, body, token, signal }: UpstreamRequest): Promise<UpstreamReply> {
    const { promise, resolve, reject } = Promise.withResolvers<UpstreamReply>()
    const requestHeaders: Record<string, string> = {
      ...pickHeaders(headers, REQUEST_HEADERS),
      ...(token && { authorization: `Bearer ${token}` }),
    }
    if (body) requestHeaders['content-length'] = String(body.length)
    const base = this.#url.pathname === '/' ? '' : this.#url.pathname
    const outgoing: ClientRequest = this.#send(
      {
        ...toAddress(this.#url),
        method,
        path: base + path,
        headers: requestHeaders,
        agent: this.#agent,
        ...(signal && { signal }),
      },
      (reply) => {
        clearTimeout(timer)
        outgoing.setTimeout(STREAM_TIMEOUT_MS, () => outgoing.destroy())
        const status = reply.statusCode!
        resolve({
          status,
          headers: pickHeaders(reply.headers, RESPONSE_HEADERS),
          body: reply,
          abort: () => void outgoing.destroy(),
        })
      },
    )
    const timer = setTimeout(() => {
      reject(errors.SERVICE_SLOW())
      outgoing.destroy()
    }, this.#timeout)
    outgoing.on('error', (cause) => {
      clearTimeout(timer)
      reject(errors.SERVICE_UNREACHABLE(undefined, { cause, headers: { 'retry-after': '1' } }))
    })
    outgoing.end(body)
    return promise
  }

  close(): void {
    this.#agent.destroy()
  }
}

const toAddress = ({ protocol, hostname, port }: URL) => ({
  protocol,
  hostname: hostname.replace(/^\[(.*)\]$/, '$1'),
  port,
})

function pickHeaders(headers: IncomingHttpHeaders, names: readonly string[]): Record<string, string> {
  const found: Record<string, string> = {}
  for (const name of names) if (headers[name] !== undefined) found[name] = String(headers[name])
  return found
}

/** Reads a small body. @throws Problem `SERVICE_UNREACHABLE` if it exceeds the limit or is truncated */
export async function readText({ body, abort }: UpstreamReply, limit: number): Promise<string> {
  const chunks: Buffer[] = []
  let length = 0
  try {
    for await (const chunk of body) {
      length += chunk.length
      if (length > limit) throw new Error(`more than ${limit} bytes`)
      chunks.push(chunk)
    }
  } catch (cause) {
    abort()
    throw errors.SERVICE_UNREACHABLE(undefined, { cause })
  }
  return Buffer.concat(chunks).toString()
}
