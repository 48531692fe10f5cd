import { keepOpen, readEvents, STREAM_TIMEOUT_MS } from './core/event-stream.ts'
import { readJson } from './core/reply-parts.ts'
import { createRequester, type CallOptions, type ClientOptions } from './core/requester.ts'
import { ignoreCodes } from './core/service-error.ts'
import type { components, operations } from './generated/sse.ts'

export { ServiceError } from './core/service-error.ts'
export type { CallOptions, ClientOptions }

type PutValuesRequest = operations['putValues']['requestBody']['content']['application/json']

/** A value for the streams of a topic. */
export type TopicValue = PutValuesRequest[number]

/** Numbers of open streams. */
export type ConnectionCounts = components['schemas']['Connections']

/** An item of a subscription. */
export type SubscriptionItem =
  | { readonly kind: 'value'; readonly id: string; readonly topic: string; readonly value: string }
  /** Some values after the last received one may be lost. The values that are still stored follow. */
  | { readonly kind: 'gap'; readonly id: string }

export interface SubscribeOptions extends CallOptions {
  /** Topics of the stream. Without `topics` and `match`, the topic is `default`. */
  readonly topics?: readonly string[] | undefined
  /** Prefixes of further topics, with a `*` at the end: `collections/*`. */
  readonly match?: readonly string[] | undefined
  /** True: a stream without `after` begins with the current value of each topic. */
  readonly last?: boolean | undefined
  /** Id of the event to resume after. */
  readonly after?: string | undefined
}

export interface TopicOptions extends CallOptions {
  /** Default: `default`. */
  readonly topic?: string | undefined
}

/** Client of the broadcaster, the service `sse`. Its methods reject with a `ServiceError` if it refuses a request. */
export interface SseClient {
  /** Sends a value to every stream of a topic. Resolves with the id of its event. */
  put(value: string, options?: TopicOptions): Promise<string>
  /** Sends up to 1,000 values, all or none. Resolves with the id of the last event. */
  putValues(values: readonly TopicValue[], options?: CallOptions): Promise<string>
  /** Resolves with the value that was published last; `undefined` if the topic has none. */
  getValue(options?: TopicOptions): Promise<string | undefined>
  /**
   * Yields values as they are published. It opens a lost stream again and resumes after the last event. It ends after
   * `closeAll` of any client, and when `signal` is aborted.
   * @throws ServiceError if a status below 500, except 429, refuses the stream
   */
  subscribe(options?: SubscribeOptions): AsyncIterableIterator<SubscriptionItem>
  getConnections(options?: CallOptions): Promise<ConnectionCounts>
  /** Ends all streams; their clients do not reconnect. */
  closeAll(options?: CallOptions): Promise<void>
}

/** Delay before a lost stream is opened again, until the broadcaster sends a `retry` (ms). */
const RETRY_DELAY_MS = 2_000
const NO_CONTENT_STATUS = 204

/** Creates a client of the service at `url`, in a browser or in Node. */
export function createSseClient(url: string, options: ClientOptions = {}): SseClient {
  const { call, stream } = createRequester(url, options)

  function subscribe({ topics, match, last, after, ...subscribeCall }: SubscribeOptions = {}) {
    const query = { cid: 'client', named: '1', topic: topics, match, last: last ? '1' : undefined }
    let lastId = after
    let delay = RETRY_DELAY_MS
    let isClosed = false

    async function* readItems(chunks: AsyncIterable<Uint8Array>, { status }: Response) {
      if (status === NO_CONTENT_STATUS) isClosed = true
      for await (const { id, event, data, retry } of readEvents(chunks)) {
        if (retry !== undefined) delay = retry
        if (id !== undefined) lastId = id
        if (event === 'closed') {
          isClosed = true
          return
        }
        const item: SubscriptionItem | undefined =
          event === 'gap'
            ? { kind: 'gap', id: lastId! }
            : data === undefined
              ? undefined
              : { kind: 'value', id: lastId!, ...(JSON.parse(data) as { topic: string; value: string }) }
        if (item) yield item
      }
    }

    const open = () => {
      const headers = { 'last-event-id': lastId }
      return stream('GET', '/wait', { query, headers, call: subscribeCall, idleTimeout: STREAM_TIMEOUT_MS }, readItems)
    }
    return keepOpen(open, () => (isClosed ? undefined : delay), subscribeCall.signal)
  }

  return {
    put: (value, { topic, ...putCall } = {}) =>
      call(
        'POST',
        '/put',
        { query: { topic }, headers: { 'content-type': 'text/plain' }, body: value, call: putCall },
        async (reply) => {
          await reply.text()
          return reply.headers.get('event-id')!
        },
      ),
    putValues: (json, putCall) =>
      call('POST', '/values', { json, call: putCall }, async (reply) => {
        const { last } = await readJson<components['schemas']['EventIds']>(reply)
        return last
      }),
    getValue: ({ topic, ...getCall } = {}) =>
      ignoreCodes(
        call('GET', '/value', { query: { topic }, call: getCall }, (reply) => reply.text()),
        'VALUE_NOT_FOUND',
      ),
    subscribe,
    getConnections: (getCall) => call('GET', '/connections', { call: getCall }, readJson<ConnectionCounts>),
    closeAll: (closeCall) => call('POST', '/closeall', { call: closeCall }, async (reply) => void (await reply.text())),
  }
}
