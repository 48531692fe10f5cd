import { toServiceError } from '@influencer-stats/runtime/service-error'
import { timeCall } from '@influencer-stats/runtime/time-call'
import { Agent, request, type Dispatcher } from 'undici'
import type { KvClientOptions } from './types.ts'

/** Headers or parameters; `undefined` omits one. */
type KvFields = Readonly<Record<string, string | undefined>>

export interface KvRequestOptions {
  readonly query?: KvFields
  readonly headers?: KvFields
  readonly body?: string | Uint8Array
  /** Signal of a request whose reply is a stream that remains open. */
  readonly streamSignal?: AbortSignal
}

/** Sends the requests of a client. */
export interface KvRequester {
  /** Highest sequence in the replies; `undefined` before the first one. */
  readonly sequence: number | undefined
  readonly isClosed: boolean
  /** @throws ServiceError if the status is 300 or above */
  send(method: Dispatcher.HttpMethod, path: string, options?: KvRequestOptions): Promise<Dispatcher.ResponseData>
  /** Ends the streams, and closes the connections once their requests are complete. Idempotent. */
  close(): Promise<void>
}

/** Time without a byte after which the client considers a stream lost (ms): four heartbeats by default. */
const STREAM_TIMEOUT_MS = 60_000

export function createKvRequester(
  url: string,
  { token, connections = 64, timeout, timer: startTimer }: KvClientOptions,
): KvRequester {
  const dispatcher = new Agent({
    connections,
    ...(timeout && { headersTimeout: timeout, bodyTimeout: timeout, connect: { timeout } }),
  })
  // Streams remain open, so they must not use the connections of other requests.
  const streams = new Agent({
    bodyTimeout: STREAM_TIMEOUT_MS,
    ...(timeout && { headersTimeout: timeout, connect: { timeout } }),
  })
  const authorization = token ? { authorization: `Bearer ${token}` } : {}
  let sequence: number | undefined
  let closed: Promise<unknown> | undefined

  return {
    get sequence() {
      return sequence
    },
    get isClosed() {
      return closed !== undefined
    },
    async send(method, path, { query = {}, headers = {}, body, streamSignal } = {}) {
      const target = new URL(path, url)
      for (const [name, value] of Object.entries(query)) if (value !== undefined) target.searchParams.set(name, value)
      const sentHeaders = Object.fromEntries(Object.entries(headers).filter(([, value]) => value !== undefined))
      const send = (ids: Record<string, string>) =>
        request(target, {
          method,
          dispatcher: streamSignal ? streams : dispatcher,
          signal: streamSignal,
          headers: { ...authorization, ...ids, ...sentHeaders },
          body,
        })
      const reply = await timeCall(startTimer, 'kv', send, ({ statusCode }) => statusCode)
      if (reply.headers.sequence !== undefined) sequence = Math.max(sequence ?? 0, Number(reply.headers.sequence))
      if (reply.statusCode < 300) return reply
      const retryAfter = reply.headers['retry-after']
      throw toServiceError(reply.statusCode, await reply.body.text(), retryAfter?.toString())
    },
    close: async () => void (await (closed ??= Promise.all([streams.destroy(), dispatcher.close()]))),
  }
}
