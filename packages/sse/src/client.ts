import { pause } from '@influencer-stats/runtime/async/retry'
import { readEventStream } from '@influencer-stats/runtime/event-stream'
import {
  createRequester,
  readJson,
  readChunks,
  ignoreErrors,
  type ClientOptions,
} from '@influencer-stats/runtime/service-client'
import { getRetryDelay, isPermanent } from '@influencer-stats/runtime/service-error'

import type { TopicValue } from './publisher-client.ts'

/** Event of a stream. */
export type StreamEvent =
  | { readonly kind: 'value'; readonly id: string; readonly topic: string; readonly value: string }
  /** Some events after the last received one may be lost. The events that are still stored follow. */
  | { readonly kind: 'gap'; readonly id: string }

export interface SseStreamOptions {
  /** Topics of the stream. Without `topics` and `match`, the topic is `default`. */
  readonly topics?: readonly string[]
  /** Prefixes of further topics: `collections/*`. */
  readonly match?: readonly string[]
  /** If true, a stream without `after` begins with each topic's current value. */
  readonly last?: boolean
  /** Id of the event to resume after. */
  readonly after?: string
  /** Signal that ends the stream. */
  readonly signal?: AbortSignal
}

/** Numbers of open streams. */
export interface ConnectionCounts {
  readonly streams: number
  readonly threads: readonly { readonly thread: number; readonly streams: number }[]
  /** Topics with the largest numbers of streams, largest first; at most 1,000. */
  readonly topics: readonly { readonly topic: string; readonly streams: number }[]
  /** Streams of topics that are not listed; a stream counts once for each of its topics. */
  readonly others: number
}

/**
 * Client of a broadcaster: a service `sse`. Its methods reject with a `ServiceError` if the service refuses a request.
 */
export interface SseClient {
  /** Sends a value to every stream of a topic, by default `default`. Resolves with the value's event id. */
  put(value: string, topic?: string): Promise<string>
  /** Sends up to 1,000 values at once, all or none. Resolves with the event id of the last value. */
  putValues(values: readonly TopicValue[]): Promise<string>
  /** Returns the value that was published last; undefined if the topic has none. */
  getValue(topic?: string): Promise<string | undefined>
  /**
   * Yields values as they are published. Reopens a lost stream and resumes after the last event. Ends after `closeAll`
   * of any client, or when `signal` is aborted.
   * @throws ServiceError if a status below 500, except 429, refuses the stream
   */
  subscribe(options?: SseStreamOptions): AsyncIterable<StreamEvent>
  getConnections(): Promise<ConnectionCounts>
  /** Ends all streams; their clients do not reconnect. */
  closeAll(): Promise<void>
}

const CLIENT_ID = 'client'
/** Initial reconnection delay (ms). A `retry` from the broadcaster replaces it. */
const RETRY_DELAY_MS = 2_000
/** Time without data after which a stream counts as lost (ms): four default heartbeat intervals. */
const STREAM_TIMEOUT_MS = 60_000
const NO_CONTENT_STATUS = 204

/** Creates a client for the service at `url`, in a browser or in Node. */
export function createSseClient(url: string, options: ClientOptions = {}): SseClient {
  const request = createRequester(url, options)

  async function* subscribe({ topics, match, last, after, signal }: SseStreamOptions = {}): AsyncGenerator<
    StreamEvent,
    void
  > {
    const query = { cid: CLIENT_ID, topic: topics, match, named: '1', ...(last && { last: '1' }) }
    let retry = RETRY_DELAY_MS
    let lastId = after
    const ended = new AbortController()
    const stopped = signal ? AbortSignal.any([signal, ended.signal]) : ended.signal
    try {
      while (!stopped.aborted) {
        const lost = new AbortController()
        const startTimer = () => setTimeout(() => lost.abort(), STREAM_TIMEOUT_MS)
        let timer = startTimer()
        let delay: number
        try {
          const headers = { 'last-event-id': lastId }
          const reply = await request('GET', '/wait', {
            query,
            headers,
            signal: AbortSignal.any([stopped, lost.signal]),
          })
          if (reply.status === NO_CONTENT_STATUS) return
          for await (const { id, event, data, retry: newRetry } of readEventStream(readChunks(reply))) {
            clearTimeout(timer)
            timer = startTimer()
            if (newRetry !== undefined) retry = newRetry
            if (id !== undefined) lastId = id
            if (event === 'closed') return
            if (event === 'gap') yield { kind: 'gap', id: lastId! }
            else if (data !== undefined) yield { kind: 'value', id: lastId!, ...JSON.parse(data) }
          }
          delay = retry
        } catch (error) {
          if (isPermanent(error)) throw error
          delay = getRetryDelay(error, retry)
        } finally {
          clearTimeout(timer)
        }
        await pause(delay, stopped)
      }
    } finally {
      ended.abort()
    }
  }

  return {
    async put(value, topic) {
      const reply = await request('POST', '/put', {
        query: { topic },
        headers: { 'content-type': 'text/plain' },
        body: value,
      })
      await reply.text()
      return reply.headers.get('event-id')!
    },
    async putValues(values) {
      const { last } = await readJson<{ last: string }>(request('POST', '/values', { json: values }))
      return last
    },
    getValue: (topic) =>
      ignoreErrors(
        request('GET', '/value', { query: { topic } }).then((reply) => reply.text()),
        'VALUE_NOT_FOUND',
      ),
    subscribe,
    getConnections: () => readJson(request('GET', '/connections')),
    async closeAll() {
      await (await request('POST', '/closeall')).text()
    },
  }
}
