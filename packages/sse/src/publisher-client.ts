import type { UpstreamTimer } from '@influencer-stats/runtime/upstream-timer'
import { pause } from '@influencer-stats/runtime/async/retry'
import { finished } from 'node:stream/promises'
import { HttpClient, readText } from '@influencer-stats/runtime/http-client'
import { timeCall } from '@influencer-stats/runtime/time-call'
import { toServiceError } from '@influencer-stats/runtime/service-error'

/** A value and its topic. */
export interface TopicValue {
  readonly topic: string
  readonly value: string
}

/** Client that publishes values on a broadcaster: a service `sse`. */
export interface PublisherClient {
  /**
   * Sends a value to every stream of a topic. Resolves with the id of its event.
   * @throws ServiceError if the service refuses the value; Error if there is no response
   */
  put(topic: string, value: string): Promise<string>
  /**
   * Sends up to 1,000 values, all or none. Their JSON may have at most 1 MiB. Resolves with the event id of the last
   * value.
   * @throws ServiceError, Error as `put`
   */
  putValues(values: readonly TopicValue[]): Promise<string>
  /**
   * Opens a stream and calls `onEpoch` with the broadcaster's epoch: now, and whenever a lost stream is open again.
   * After a change of the epoch, the broadcaster may have none of the earlier values.
   */
  watch(onEpoch: (epoch: string) => void): void
  /** Aborts pending requests and closes the connections. Idempotent. */
  close(): void
}

export interface PublisherClientOptions {
  /** Required if the broadcaster was started with an `API_TOKEN`. */
  readonly token?: string
  /** Timeout of a request (ms). */
  readonly timeout?: number
  /** Timer that measures every request. */
  readonly timer?: UpstreamTimer
}

// Topic of the watch stream. No client publishes to it.
const UNUSED_TOPIC = encodeURIComponent('(none)')
const EPOCH_PATTERN = /^id: ([a-z0-9]+)-/m
/** Maximum time until a stream begins (ms). */
const STREAM_START_TIMEOUT_MS = 60_000
// Delay before a lost stream is reopened (ms). It is short, so that a restart is noticed within 2 s.
const WATCH_RETRY_MS = 400

/** Creates a client for the broadcaster at `url`. */
export function createPublisherClient(
  url: string,
  { token, timeout = 5_000, timer }: PublisherClientOptions = {},
): PublisherClient {
  const client = new HttpClient(url, { timeout })
  const closing = new AbortController()
  const bearer = token ? { authorization: `Bearer ${token}` } : {}

  /** @returns the id of the event. @throws ServiceError */
  async function put(path: string, value: string, type: string): Promise<string> {
    const length = { 'content-type': type, 'content-length': Buffer.byteLength(value) }
    async function send(ids: Record<string, string>) {
      const headers = { ...bearer, ...ids, ...length }
      const reply = await client.request(path, { method: 'POST', headers, body: value })
      return { status: reply.statusCode!, headers: reply.headers, text: await readText(reply) }
    }
    const { status, headers, text } = await timeCall(timer, 'sse', send, (reply) => reply.status)
    if (status === 200) return String(headers['event-id'])
    throw toServiceError(status, text, headers['retry-after'])
  }

  /** Opens a stream, of which only the first id is used. Resolves when the stream is lost. */
  async function openWatchStream(onEpoch: (epoch: string) => void): Promise<void> {
    const path = `/wait?cid=watch&topic=${UNUSED_TOPIC}`
    const reply = await client.request(path, { headers: bearer, timeout: STREAM_START_TIMEOUT_MS, isStream: true })
    let text = ''
    reply.setEncoding('utf8').on('data', function onData(chunk: string) {
      const epoch = EPOCH_PATTERN.exec((text += chunk))?.[1]
      if (epoch === undefined) return
      reply.off('data', onData).resume()
      onEpoch(epoch)
    })
    await finished(reply)
  }

  async function watch(onEpoch: (epoch: string) => void): Promise<void> {
    while (!closing.signal.aborted) {
      await openWatchStream(onEpoch).catch(() => {})
      await pause(WATCH_RETRY_MS, closing.signal)
    }
  }

  return {
    watch: (onEpoch) => void watch(onEpoch),
    put: (topic, value) => put(`/put?topic=${encodeURIComponent(topic)}`, value, 'text/plain'),
    putValues: (values) => put('/values', JSON.stringify(values), 'application/json'),
    close() {
      closing.abort()
      client.close()
    },
  }
}
