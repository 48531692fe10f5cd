import type { Agent, ClientRequest, IncomingMessage, OutgoingHttpHeaders, request } from 'node:http'
import { urlToHttpOptions } from 'node:url'

export interface HttpClientOptions {
  /** Default timeout of a request (ms). */
  readonly timeout: number
  /** Maximum number of connections. Default: unlimited. */
  readonly connections?: number
}

export interface HttpRequestOptions {
  readonly method?: string
  readonly headers?: OutgoingHttpHeaders
  readonly body?: string | Buffer | undefined
  readonly signal?: AbortSignal | undefined
  /** Maximum time until the reply is complete (ms). If the reply is a stream: until it begins. */
  readonly timeout?: number
  /** True if the reply may remain open. It is aborted after `STREAM_TIMEOUT_MS` without data. */
  readonly isStream?: boolean
}

/** Time without data after which a stream counts as lost (ms): four heartbeats by default. */
const STREAM_TIMEOUT_MS = 60_000

/** Error of a request without a reply in time. */
export class RequestTimeoutError extends Error {}

/**
 * Client of one server, on persistent connections. It uses Node's `http` client, which takes 5 MB of memory. The first
 * call of `fetch` would take 28 MB, and an `import` of `node:http` 10 MB.
 */
export class HttpClient {
  readonly #target: ReturnType<typeof urlToHttpOptions>
  /** Path of the URL, without a slash at its end. */
  readonly #prefix: string
  readonly #timeout: number
  readonly #agent: Agent
  readonly #send: typeof request
  readonly #pending = new Set<ClientRequest>()
  #isClosed = false

  /** @param url address of the server; it may end in a path prefix */
  constructor(url: string, { timeout, connections = Infinity }: HttpClientOptions) {
    const target = new URL(url)
    const http = process.getBuiltinModule(target.protocol === 'https:' ? 'node:https' : 'node:http')
    this.#target = urlToHttpOptions(target)
    this.#prefix = target.pathname.replace(/\/+$/, '')
    this.#timeout = timeout
    this.#agent = new http.Agent({ keepAlive: true, maxSockets: connections })
    this.#send = http.request
  }

  /**
   * Resolves when the reply begins. A destroyed reply ends its request.
   * @throws RequestTimeoutError; Error if there is no connection
   */
  request(
    path: string,
    { method, headers, body, signal, timeout = this.#timeout, isStream = false }: HttpRequestOptions = {},
  ): Promise<IncomingMessage> {
    return new Promise((resolve, reject) => {
      if (this.#isClosed) return reject(new Error('closed'))
      const options = { ...this.#target, path: this.#prefix + path, method, headers, agent: this.#agent, signal }
      const outgoing = this.#send(options, (reply) => {
        if (isStream) {
          clearTimeout(timer)
          outgoing.setTimeout(STREAM_TIMEOUT_MS, () => outgoing.destroy())
        }
        resolve(reply)
      })
      // A timer, because an abort signal per request would double the cost of the request.
      const timer = setTimeout(() => {
        outgoing.destroy(new RequestTimeoutError(`no response within ${timeout} ms`))
      }, timeout)
      this.#pending.add(outgoing)
      outgoing.on('error', reject).on('close', () => {
        clearTimeout(timer)
        this.#pending.delete(outgoing)
      })
      outgoing.end(body)
    })
  }

  /** Aborts all requests and closes the connections. Idempotent. */
  close(): void {
    this.#isClosed = true
    for (const outgoing of this.#pending) outgoing.destroy(new Error('closed'))
    this.#agent.destroy()
  }
}

/** Reads a body as text. @param limit maximum size (bytes) @throws Error if the body is larger or cut off */
export async function readText(body: IncomingMessage, limit = Infinity): Promise<string> {
  const chunks: Buffer[] = []
  let size = 0
  for await (const chunk of body as AsyncIterable<Buffer>) {
    size += chunk.length
    if (size > limit) throw new Error(`more than ${limit} bytes`)
    chunks.push(chunk)
  }
  return Buffer.concat(chunks).toString()
}
