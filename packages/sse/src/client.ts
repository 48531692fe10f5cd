import {
  createRequester,
  readJson,
  readLines,
  ignoreErrors,
  pause,
  type ClientOptions,
} from '@influencer-stats/runtime/service-client'

import type { TopicValue } from './publisher-client.ts'

/** Event of a stream. */
export type StreamEvent =
  | { readonly kind: 'value'; readonly id: string; readonly topic: string; readonly value: string }
  /** Events between the last event and this one are no longer stored. */
  | { readonly kind: 'gap'; readonly id: string }

export interface SseStreamOptions {
  /** Topics whose values are sent. Without them, and without `match`, the topic `default`. */
  readonly topics?: readonly string[]
  /** Prefixes of topics: `collections/*`. */
  readonly match?: readonly string[]
  /** Begins with each topic's current value. */
  readonly last?: boolean
  /** Id of the event to resume after. */
  readonly after?: string
  /** Ends the stream when it is aborted. */
  readonly signal?: AbortSignal
}

/** Numbers of open streams. */
export interface ConnectionCounts {
  readonly streams: number
  readonly threads: readonly { readonly thread: number; readonly streams: number }[]
  readonly topics: readonly { readonly topic: string; readonly streams: number }[]
  readonly others: number
}

/** Client of a broadcaster. A missing value is `undefined`; other refusals are a `ServiceError`. */
export interface SseClient {
  /** Sends a value to every stream of a topic. Resolves with the id of its event. */
  put(value: string, topic?: string): Promise<string>
  /** Sends up to 1,000 values at once, all or none. Resolves with the id of the last one's event. */
  putValues(values: readonly TopicValue[]): Promise<string>
  /** Returns the value that was published last. */
  getValue(topic?: string): Promise<string | undefined>
  /**
   * Yields values as they are published. It reopens a lost stream and resumes after the last event. It ends when all
   * streams are closed, and when `signal` is aborted.
   */
  subscribe(options?: SseStreamOptions): AsyncIterable<StreamEvent>
  getConnections(): Promise<ConnectionCounts>
  /** Ends all streams; their clients do not reconnect. */
  closeAll(): Promise<void>
}

const CLIENT_ID = 'client'
/** Reconnection time until the broadcaster sends another one (ms). */
const RETRY_DELAY_MS = 2_000
/** Time without data after which a stream counts as lost (ms): four heartbeats. */
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
    signal?.addEventListener('abort', () => ended.abort(), { once: true })
    if (signal?.aborted) return
    try {
      while (!ended.signal.aborted) {
        const lost = new AbortController()
        const startTimer = () => setTimeout(() => lost.abort(), STREAM_TIMEOUT_MS)
        let timer = startTimer()
        try {
          const headers = { 'last-event-id': lastId }
          const reply = await request('GET', '/wait', {
            query,
            headers,
            signal: AbortSignal.any([ended.signal, lost.signal]),
          })
          if (reply.status === NO_CONTENT_STATUS) return
          for await (const { id, event, data, retry: newRetry } of readMessages(reply)) {
            clearTimeout(timer)
            timer = startTimer()
            if (newRetry !== undefined) retry = newRetry
            if (id !== undefined) lastId = id
            if (event === 'closed') return
            if (event === 'gap') yield { kind: 'gap', id: lastId! }
            else if (data !== undefined) yield { kind: 'value', id: lastId!, ...JSON.parse(data) }
          }
        } catch (error) {
          const { status } = error as { status?: number }
          // Permanent refusals are thrown. After a lost stream, or if the service is busy or unavailable, the client
          // reconnects.
          if (status !== undefined && status < 500) throw error
        } finally {
          clearTimeout(timer)
        }
        await pause(retry, ended.signal)
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

interface SseMessage {
  readonly id?: string
  readonly event?: string
  readonly data?: string
  readonly retry?: number
}

/** Parses the messages of an event stream with the line ends of this service. A heartbeat is an empty message. */
async function* readMessages(reply: Response): AsyncGenerator<SseMessage, void> {
  let fields: [name: string, value: string][] = []
  for await (const line of readLines(reply)) {
    if (line !== '') {
      const colon = line.indexOf(':')
      fields.push([line.slice(0, colon), line.slice(colon + 1).replace(/^ /, '')])
      continue
    }
    const last = (name: string) => fields.findLast(([field]) => field === name)?.[1]
    const data = fields.flatMap(([name, value]) => (name === 'data' ? [value] : []))
    const [id, event, retry] = ['id', 'event', 'retry'].map(last)
    yield {
      ...(id !== undefined && { id }),
      ...(event !== undefined && { event }),
      ...(data.length > 0 && { data: data.join('\n') }),
      ...(retry !== undefined && { retry: Number(retry) }),
    }
    fields = []
  }
}
