import { getTraceHeaders } from '@influencer-stats/runtime/trace'
import type { UpstreamTimer } from '@influencer-stats/runtime/upstream-timer'
import { pause } from '@influencer-stats/runtime/service-client'
import type { ClientRequest, IncomingHttpHeaders } from 'node:http'
import { toServiceError } from '@influencer-stats/runtime/service-error'

/** A value and the topic that it is for. */
export interface TopicValue {
  readonly topic: string
  readonly value: string
}

/** Puts values where others wait for them. */
export interface Broadcaster {
  /** Brings a value to every stream of a topic. Resolves with its event's id. @throws ServiceError */
  put(topic: string, value: string): Promise<string>
  /** The same with up to 1,000 values of 1 MiB together, all or none. Resolves with the last one's event's id. @throws ServiceError */
  putMany(values: readonly TopicValue[]): Promise<string>
  /**
   * Tells, once, which epoch the broadcaster is in whenever a connection to it begins, from now on and after each loss:
   * another one has nothing of what was put in the last.
   */
  watch(heard: (epoch: string) => void): void
  /** Cuts what is under way and its connections. Idempotent. */
  close(): void
}

export interface BroadcasterOptions {
  /** Needed where the broadcaster was started with an `API_TOKEN`. */
  readonly token?: string
  /** A put may take (ms). */
  readonly timeout?: number
  /** Times every put. */
  readonly timer?: UpstreamTimer
}

// Nobody puts to it.
const NO_TOPIC = encodeURIComponent('(none)')
const EPOCH = /^id: ([a-z0-9]+)-/m
// A stream that shows no sign of life for so long is lost (ms): four heartbeats.
const SILENCE = 60_000
// What was lost is to be back within 2 s (ms).
const WATCH_AGAIN = 400

interface Reply {
  readonly status: number
  readonly headers: IncomingHttpHeaders
  readonly text: string
}

/**
 * A client for the broadcaster at `url`. With Node's own HTTP client: the first call of `fetch` costs a process 28 MB,
 * this one 5.
 */
export function createBroadcaster(
  url: string,
  { token, timeout = 5_000, timer }: BroadcasterOptions = {},
): Broadcaster {
  const { request, Agent } = process.getBuiltinModule(new URL(url).protocol === 'https:' ? 'node:https' : 'node:http')
  const agent = new Agent({ keepAlive: true })
  const closing = new AbortController()
  const underWay = new Set<ClientRequest>()
  const bearer = token ? { authorization: `Bearer ${token}` } : {}

  /** @returns the event's id. @throws ServiceError */
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

  function post(target: URL, value: string, type: string, ids: Record<string, string>): Promise<Reply> {
    const headers = { ...bearer, ...ids, 'content-type': type, 'content-length': Buffer.byteLength(value) }
    return new Promise((resolve, reject) => {
      closing.signal.throwIfAborted()
      const sent = request(target, { method: 'POST', agent, headers }, (reply) => {
        let text = ''
        reply.setEncoding('utf8')
        reply.on('data', (part) => (text += part))
        reply.on('end', () => resolve({ status: reply.statusCode!, headers: reply.headers, text }))
        reply.on('error', reject)
      })
      sent.on('error', reject)
      // Signals of its own would cost each put as much as all the rest of it.
      const late = setTimeout(() => sent.destroy(new Error(`no answer within ${timeout} ms`)), timeout)
      underWay.add(sent)
      sent.on('close', () => {
        clearTimeout(late)
        underWay.delete(sent)
      })
      sent.end(value)
    })
  }

  /** Holds a stream open, of which no more is wanted than where it begins; resolves when it is lost. */
  function holdStream(heard: (epoch: string) => void): Promise<void> {
    const { promise, resolve } = Promise.withResolvers<void>()
    const target = new URL(`/wait?cid=watch&topic=${NO_TOPIC}`, url)
    const sent = request(target, { headers: bearer, signal: closing.signal, timeout: SILENCE }, (reply) => {
      let text = ''
      reply.setEncoding('utf8')
      reply.on('data', function onData(part: string) {
        const epoch = EPOCH.exec((text += part))?.[1]
        if (epoch === undefined) return
        reply.off('data', onData).resume()
        heard(epoch)
      })
      reply.on('error', () => {})
      reply.on('close', resolve)
    })
    sent.on('timeout', () => sent.destroy())
    sent.on('error', () => resolve())
    sent.end()
    return promise
  }

  async function watch(heard: (epoch: string) => void): Promise<void> {
    while (!closing.signal.aborted) {
      await holdStream(heard)
      await pause(WATCH_AGAIN, closing.signal)
    }
  }

  return {
    watch: (heard) => void watch(heard),
    async put(topic, value) {
      const target = new URL('/put', url)
      target.searchParams.set('topic', topic)
      return put(target, value, 'text/plain')
    },
    putMany: (values) => put(new URL('/values', url), JSON.stringify(values), 'application/json'),
    close() {
      closing.abort()
      for (const sent of underWay) sent.destroy(new Error('closed'))
      agent.destroy()
    },
  }
}
