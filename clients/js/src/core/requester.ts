import { Cancellation } from './cancellation.ts'
import { readChunks } from './reply-parts.ts'
import { readServiceError } from './service-error.ts'

/** Options of every client. */
export interface ClientOptions {
  /** Bearer token: required for changes if the service has an `API_TOKEN`, and for reads if it has a `READ_TOKEN`. */
  readonly token?: string | undefined
  /** Time until a reply is complete, or until a stream begins (ms). Default: 30,000. `Infinity` sets no limit. */
  readonly timeout?: number | undefined
  /** Replacement of the global `fetch`. */
  readonly fetch?: typeof fetch | undefined
}

/** Options of every method. */
export interface CallOptions {
  /** Aborts the request; the method then rejects with the reason of the signal. */
  readonly signal?: AbortSignal | undefined
  /** Replaces the `timeout` of the client for this request (ms). */
  readonly timeout?: number | undefined
}

/** Parameters of a query; `undefined` omits one. */
export type QueryFields = Readonly<Record<string, string | number | boolean | readonly string[] | undefined>>

export interface RequestParts {
  readonly query?: QueryFields | undefined
  readonly headers?: Readonly<Record<string, string | undefined>> | undefined
  /** Body that is sent as JSON. */
  readonly json?: unknown
  /** Body that is sent unchanged. */
  readonly body?: string | Uint8Array | Blob | ReadableStream<Uint8Array> | undefined
  readonly call?: CallOptions | undefined
  /** Time without data after which an open stream counts as lost (ms). Default: no limit. */
  readonly idleTimeout?: number | undefined
}

/** Sends the requests of a client. Follows no redirect, because another address would receive the token. */
export interface Requester {
  /** Reads a whole reply. @throws ServiceError if the status is not 2xx */
  call<T>(method: string, path: string, parts: RequestParts, read: (reply: Response) => T | Promise<T>): Promise<T>
  /** Yields the parts of a reply as they arrive. @throws ServiceError if the status is not 2xx */
  stream<T>(
    method: string,
    path: string,
    parts: RequestParts,
    read: (chunks: AsyncIterable<Uint8Array>, reply: Response) => AsyncIterable<T>,
  ): AsyncGenerator<T, void, undefined>
}

const DEFAULT_TIMEOUT_MS = 30_000

/** Creates the functions that send requests to the service at `url`. @throws TypeError if the URL is invalid */
export function createRequester(url: string, options: ClientOptions): Requester {
  // In a browser the URL may be relative to the page.
  const base = new URL(url, (globalThis as { location?: { href: string } }).location?.href).href.replace(/\/+$/, '')
  const send = options.fetch ?? ((input: string, init: RequestInit) => fetch(input, init))
  const getTimeout = ({ timeout }: CallOptions = {}) => timeout ?? options.timeout ?? DEFAULT_TIMEOUT_MS

  async function request(method: string, path: string, parts: RequestParts, { signal }: Cancellation) {
    const { query = {}, headers = {}, json, body } = parts
    const sentHeaders = new Headers()
    if (options.token !== undefined) sentHeaders.set('authorization', `Bearer ${options.token}`)
    if (json !== undefined) sentHeaders.set('content-type', 'application/json')
    for (const [name, value] of Object.entries(headers)) if (value !== undefined) sentHeaders.set(name, value)
    const reply = await send(base + path + toQueryString(query), {
      method,
      headers: sentHeaders,
      body: json === undefined ? body : JSON.stringify(json),
      ...(body instanceof ReadableStream && { duplex: 'half' }),
      signal,
      redirect: 'manual',
    } as RequestInit)
    if (reply.ok) return reply
    throw await readServiceError(reply)
  }

  return {
    async call(method, path, parts, read) {
      const cancellation = new Cancellation(parts.call?.signal)
      cancellation.setLimit(getTimeout(parts.call))
      try {
        return await read(await request(method, path, parts, cancellation))
      } catch (error) {
        // Some browsers replace the reason while they read a body.
        throw cancellation.signal.aborted ? cancellation.signal.reason : error
      } finally {
        cancellation.end()
      }
    },
    async *stream(method, path, parts, read) {
      const cancellation = new Cancellation(parts.call?.signal)
      cancellation.setLimit(getTimeout(parts.call))
      try {
        const reply = await request(method, path, parts, cancellation)
        yield* read(
          readChunks(reply, () => cancellation.setLimit(parts.idleTimeout ?? Infinity)),
          reply,
        )
      } catch (error) {
        throw cancellation.signal.aborted ? cancellation.signal.reason : error
      } finally {
        cancellation.end()
      }
    },
  }
}

function toQueryString(query: QueryFields): string {
  const parameters = new URLSearchParams()
  for (const [name, value] of Object.entries(query)) {
    for (const one of Array.isArray(value) ? value : [value])
      if (one !== undefined) parameters.append(name, String(one))
  }
  const text = parameters.toString()
  return text && `?${text}`
}
