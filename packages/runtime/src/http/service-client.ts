import { toServiceError } from './service-error.ts'

// What the clients of all services ask with, in a browser and in Node: nothing here may need more than both have.

export interface ClientOptions {
  /** Needed for changes where the service was started with an `API_TOKEN`, for reads with a `READ_TOKEN`. */
  readonly token?: string | undefined
}

/** Parameters of a query; one that is `undefined` is left out. */
export type QueryParameters = Readonly<Record<string, string | number | boolean | readonly string[] | undefined>>

export interface ServiceRequestOptions {
  readonly query?: QueryParameters
  readonly headers?: Readonly<Record<string, string | undefined>>
  /** Sent as JSON. */
  readonly json?: unknown
  /** Sent as it is. */
  readonly body?: string | Uint8Array | Blob | AsyncIterable<Uint8Array> | undefined
  /** Ends what is under way when it is aborted. */
  readonly signal?: AbortSignal | undefined
}

/** Asks a service, and follows no redirect. @throws ServiceError for whatever is no success */
export type Requester = (method: string, path: string, options?: ServiceRequestOptions) => Promise<Response>

/** @param url where the service is; it may end in a path that all of the service's are behind */
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
    throw toServiceError(reply.status, await reply.text())
  }
}

/** Reads a reply as JSON. */
export async function readJson<T>(reply: Promise<Response>): Promise<T> {
  return (await reply).json() as Promise<T>
}

/** `undefined` in place of a refusal with one of these codes. */
export async function ignoreErrors<T>(answer: Promise<T>, ...codes: readonly string[]): Promise<T | undefined> {
  try {
    return await answer
  } catch (error) {
    if (codes.includes((error as { code?: string }).code ?? '')) return undefined
    throw error
  }
}

/** The bytes of a reply as they come. Who stops early ends the reply. */
export async function* readChunks({ body }: Response): AsyncGenerator<Uint8Array, void> {
  // Not every browser iterates over streams.
  const reader = body?.getReader()
  try {
    for (let read = await reader?.read(); read && !read.done; read = await reader!.read()) yield read.value
  } finally {
    await reader?.cancel()
  }
}

/** The lines of a reply as they come, without their ends; the last one need not have one. */
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

/** Waits (ms), or until the signal is aborted; it keeps no process alive. */
export function pause(time: number, signal: AbortSignal): Promise<void> {
  if (signal.aborted) return Promise.resolve()
  const { promise, resolve } = Promise.withResolvers<void>()
  const timer: unknown = setTimeout(resolve, time)
  // Node's timers hold their process.
  ;(timer as { unref?(): void }).unref?.()
  signal.addEventListener('abort', () => resolve(), { once: true })
  return promise.finally(() => clearTimeout(timer as number))
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

/** Not every browser makes a stream of an iterable. */
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
