import { getTraceHeaders } from '@influencer-stats/runtime/trace'
import type { UpstreamTimer } from '@influencer-stats/runtime/upstream-timer'
import { pause } from '@influencer-stats/runtime/async/retry'
import type { ClientRequest, IncomingHttpHeaders } from 'node:http'
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
// Time without data after which a stream counts as lost (ms): four default heartbeat intervals.
const STREAM_TIMEOUT_MS = 60_000
// Delay before a lost stream is reopened (ms). It is short, so that a restart is noticed within 2 s.
const WATCH_RETRY_MS = 400

interface PublishReply {
  readonly status: number
  readonly headers: IncomingHttpHeaders
  readonly text: string
}

/**
 * Creates a client for the broadcaster at `url`. It uses Node's `http` client, which takes 5 MB of memory. The first
 * call of `fetch` would take 28 MB.
 */
export function createPublisherClient(
  url: string,
  { token, timeout = 5_000, timer }: PublisherClientOptions = {},
): PublisherClient {
  const { request, Agent } = process.getBuiltinModule(new URL(url).protocol === 'https:' ? 'node:https' : 'node:http')
  const agent = new Agent({ keepAlive: true })
  const closing = new AbortController()
  const pendingRequests = new Set<ClientRequest>()
  const bearer = token ? { authorization: `Bearer ${token}` } : {}

  /** @returns the id of the event. @throws ServiceError */
  async function put(target: URL, value: string, type: string): Promise<string> {
    const call = timer?.('sse')
    const ids = call?.headers ?? getTraceHeaders()
    const { status, headers, text } = await post(target, value, type, ids).catch((error) => {
      call?.end('broken')
      throw error
    })
    call?.end(status)
    if (status === 200) return String(headers['event-id'])
    throw toServiceError(status, text)
  }

  function post(target: URL, value: string, type: string, ids: Record<string, string>): Promise<PublishReply> {
    const headers = { ...bearer, ...ids, 'content-type': type, 'content-length': Buffer.byteLength(value) }
    return new Promise((resolve, reject) => {
      closing.signal.throwIfAborted()
      const outgoing = request(target, { method: 'POST', agent, headers }, (reply) => {
        let text = ''
        reply.setEncoding('utf8')
        reply.on('data', (chunk) => (text += chunk))
        reply.on('end', () => resolve({ status: reply.statusCode!, headers: reply.headers, text }))
        reply.on('error', reject)
      })
      outgoing.on('error', reject)
      // A timer, because an abort signal per request would double the cost of the request.
      const timeoutTimer = setTimeout(() => outgoing.destroy(new Error(`no response within ${timeout} ms`)), timeout)
      pendingRequests.add(outgoing)
      outgoing.on('close', () => {
        clearTimeout(timeoutTimer)
        pendingRequests.delete(outgoing)
      })
      outgoing.end(value)
    })
  }

  /** Opens a stream, of which only the first id is used. Resolves when the stream is lost. */
  function openWatchStream(onEpoch: (epoch: string) => void): Promise<void> {
    const { promise, resolve } = Promise.withResolvers<void>()
    const target = new URL(`/wait?cid=watch&topic=${UNUSED_TOPIC}`, url)
    const outgoing = request(
      target,
      { headers: bearer, signal: closing.signal, timeout: STREAM_TIMEOUT_MS },
      (reply) => {
        let text = ''
        reply.setEncoding('utf8')
        reply.on('data', function onData(chunk: string) {
          const epoch = EPOCH_PATTERN.exec((text += chunk))?.[1]
          if (epoch === undefined) return
          reply.off('data', onData).resume()
          onEpoch(epoch)
        })
        reply.on('error', () => {})
        reply.on('close', resolve)
      },
    )
    outgoing.on('timeout', () => outgoing.destroy())
    outgoing.on('error', () => resolve())
    outgoing.end()
    return promise
  }

  async function watch(onEpoch: (epoch: string) => void): Promise<void> {
    while (!closing.signal.aborted) {
      await openWatchStream(onEpoch)
      await pause(WATCH_RETRY_MS, closing.signal)
    }
  }

  return {
    watch: (onEpoch) => void watch(onEpoch),
    async put(topic, value) {
      const target = new URL('/put', url)
      target.searchParams.set('topic', topic)
      return put(target, value, 'text/plain')
    },
    putValues: (values) => put(new URL('/values', url), JSON.stringify(values), 'application/json'),
    close() {
      closing.abort()
      for (const outgoing of pendingRequests) outgoing.destroy(new Error('closed'))
      agent.destroy()
    },
  }
}
