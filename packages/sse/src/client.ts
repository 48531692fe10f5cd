import {
  createRequester,
  readJson,
  readLines,
  ignoreErrors,
  pause,
  type ClientOptions,
} from '@influencer-stats/runtime/service-client'

import type { TopicValue } from './publisher-client.ts'

/** What a stream brings. */
export type StreamEvent =
  | { readonly kind: 'value'; readonly id: string; readonly topic: string; readonly value: string }
  /** What came between the last event and this one is no longer kept. */
  | { readonly kind: 'gap'; readonly id: string }

export interface SseStreamOptions {
  /** Whose values; without any, and without `match`, the topic `default`. */
  readonly topics?: readonly string[]
  /** How topics begin: `collections/*`. */
  readonly match?: readonly string[]
  /** Begins with each topic's current value. */
  readonly last?: boolean
  /** The id of the event to go on after. */
  readonly after?: string
  /** Ends the stream when it is aborted. */
  readonly signal?: AbortSignal
}

/** How many streams are open. */
export interface ConnectionCounts {
  readonly streams: number
  readonly threads: readonly { readonly thread: number; readonly streams: number }[]
  readonly topics: readonly { readonly topic: string; readonly streams: number }[]
  readonly others: number
}

/** What a broadcaster can be asked. A value that is not there is `undefined`; other refusals are a `ServiceError`. */
export interface SseClient {
  /** Brings a value to every stream of a topic. Resolves with its event's id. */
  put(getValue: string, topic?: string): Promise<string>
  /** Up to 1,000 values at once, all or none. Resolves with the last one's event's id. */
  putValues(values: readonly TopicValue[]): Promise<string>
  /** The value that was put last. */
  getValue(topic?: string): Promise<string | undefined>
  /**
   * Values as they are put. A stream that is lost is opened again, and goes on after the last event; it ends when all
   * streams are closed, and when `signal` is aborted.
   */
  subscribe(options?: SseStreamOptions): AsyncIterable<StreamEvent>
  getConnections(): Promise<ConnectionCounts>
  /** Ends all streams; their clients stay away. */
  closeAll(): Promise<void>
}

const CLIENT_ID = 'client'
/** Before a broadcaster has said when to come back (ms). */
const RETRY_DELAY_MS = 2_000
/** A stream that shows no sign of life for so long is lost (ms): four heartbeats. */
const STREAM_TIMEOUT_MS = 60_000
const NO_CONTENT_STATUS = 204

/** A client for the service at `url`, in a browser or in Node. */
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
          // What is refused for good is told; a stream that was lost, and a service that is busy or away, comes back.
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

/** The messages of an event stream whose lines end as this service ends them; a heartbeat is an empty one. */
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
