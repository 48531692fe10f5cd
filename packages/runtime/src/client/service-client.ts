import { toServiceError } from '../errors/service-error.ts'

// Shared by the clients of all services, in browsers and in Node. It uses only functions that both have.

export interface ClientOptions {
  /** Bearer token: required for changes if the service has an `API_TOKEN`, and for reads if it has a `READ_TOKEN`. */
  readonly token?: string | undefined
}

/** Parameters of a query. `undefined` omits a parameter. */
export type QueryParameters = Readonly<Record<string, string | number | boolean | readonly string[] | undefined>>

export interface ServiceRequestOptions {
  readonly query?: QueryParameters
  readonly headers?: Readonly<Record<string, string | undefined>>
  /** Body that is sent as JSON. */
  readonly json?: unknown
  /** Body that is sent unchanged. */
  readonly body?: string | Uint8Array | Blob | AsyncIterable<Uint8Array> | undefined
  /** Cancels the request and its reply when it is aborted. */
  readonly signal?: AbortSignal | undefined
}

/** Sends a request. Follows no redirect. @throws ServiceError if the status is not 2xx */
export type Requester = (method: string, path: string, options?: ServiceRequestOptions) => Promise<Response>

/** Creates the function that calls a service. @param url address of the service; it may end in a path prefix */
export function createRequester(url: string, { token }: ClientOptions = {}): Requester {
  const base = url.replace(/\/+$/, '')
  const authorization = token ? { authorization: `Bearer ${token}` } : undefined

  return async function request(method, path, { query = {}, headers = {}, json, body, signal } = {}) {
    const givenHeaders = Object.entries(headers).filter(([, value]) => value !== undefined) as [string, string][]
    const reply = await fetch(base + path + toQueryString(query), {
      method,
      headers: {
        ...authorization,
        ...(json !== undefined && { 'content-type': 'application/json' }),
        ...Object.fromEntries(givenHeaders),
      },
      ...(json !== undefined && { body: JSON.stringify(json) }),
      ...(body !== undefined && { body: isAsyncIterable(body) ? toStream(body) : body, duplex: 'half' }),
      signal: signal ?? null,
      redirect: 'manual',
    } as RequestInit)
    if (reply.ok) return reply
    throw toServiceError(reply.status, await reply.text(), reply.headers.get('retry-after'))
  }
}

/** Reads a reply as JSON. */
export async function readJson<T>(reply: Promise<Response>): Promise<T> {
  return (await reply).json() as Promise<T>
}

/** Awaits a reply. Resolves with `undefined` if the service refuses the request with one of these codes. */
export async function ignoreErrors<T>(reply: Promise<T>, ...codes: readonly string[]): Promise<T | undefined> {
  try {
    return await reply
  } catch (error) {
    if (codes.includes((error as { code?: string }).code ?? '')) return undefined
    throw error
  }
}

/** Yields the bytes of a reply as they arrive. A caller that stops early cancels the reply. */
export async function* readChunks({ body }: Response): AsyncGenerator<Uint8Array, void> {
  // Not every browser can iterate over streams.
  const reader = body?.getReader()
  try {
    for (let read = await reader?.read(); read && !read.done; read = await reader!.read()) yield read.value
  } finally {
    await reader?.cancel()
  }
}

/** Yields the lines of a reply as they arrive, without line ends. The last line need not have a line end. */
export async function* readLines(reply: Response): AsyncGenerator<string, void> {
  const decoder = new TextDecoder()
  let rest = ''
  for await (const chunk of readChunks(reply)) {
    const lines = (rest + decoder.decode(chunk, { stream: true })).split('\n')
    rest = lines.pop()!
    yield* lines
  }
  if (rest !== '') yield rest
}

function toQueryString(query: QueryParameters): string {
  const parameters = new URLSearchParams()
  for (const [name, value] of Object.entries(query))
    for (const one of Array.isArray(value) ? value : [value])
      if (one !== undefined) parameters.append(name, String(one))
  const text = parameters.toString()
  return text && `?${text}`
}

const isAsyncIterable = (body: NonNullable<ServiceRequestOptions['body']>): body is AsyncIterable<Uint8Array> =>
  typeof body === 'object' && Symbol.asyncIterator in body

/** Converts an iterable to a stream. Not every browser has a function for that. */
function toStream(pieces: AsyncIterable<Uint8Array>): ReadableStream<Uint8Array> {
  const iterator = pieces[Symbol.asyncIterator]()
  return new ReadableStream({
    async pull(controller) {
      const { value, done } = await iterator.next()
      if (done) controller.close()
      else controller.enqueue(value)
    },
    async cancel() {
      await iterator.return?.()
    },
  })
}
