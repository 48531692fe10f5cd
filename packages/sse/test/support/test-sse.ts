import { embed, type Overrides } from '@influencer-stats/runtime/embed'
import { onTestFinished } from 'vitest'
import { sse } from '../../src/service.ts'
import { SECRET, signAll, signLegacy, toBearerHeader } from './sign-tokens.ts'
import { openStream, VIA_FASTIFY, type TestStreamOptions, type TestStream } from './test-stream.ts'

const SERVICES = new URL('../../../../services.ts', import.meta.url).href

/** A reply whose body is parsed if it is JSON. */
export interface SseReply {
  readonly status: number
  readonly headers: Headers
  readonly body: any
}

/** A running broadcaster, and functions that send requests to it. */
export interface TestSse {
  readonly url: string
  readonly port: number
  request(method: string, path: string, options?: RequestInit): Promise<SseReply>
  /** Puts a value by POST. Resolves with the id of its event. */
  put(value: string, topic?: string): Promise<string>
  open(query?: string, options?: TestStreamOptions): Promise<TestStream>
  /** Opens two streams: with the plain path, and with a spelling of it that only Fastify answers. */
  openBoth(query?: string, headers?: Record<string, string>): Promise<TestStream[]>
  /** Returns a metric of all threads. */
  readMetric(name: string): Promise<number>
  stop(): Promise<boolean>
}

/** Runs the broadcaster in this process until it is stopped. Tests that share it use different topics. */
export async function openSse(settings: Overrides = {}): Promise<TestSse> {
  const running = await embed(sse, settings, SERVICES)
  return createTestSse(running.url, () => running.stop(), await createPutToken(settings))
}

/** Creates a token of `put` for these settings. Undefined if they need none, or have keys that the test alone knows. */
async function createPutToken({
  apiToken,
  mercureJwtKey,
  mercurePublisherJwtKey,
}: Overrides): Promise<string | undefined> {
  if (apiToken) return String(apiToken)
  if (mercurePublisherJwtKey) return signLegacy(String(mercurePublisherJwtKey), { publish: ['*'] })
  return mercureJwtKey === SECRET ? signAll() : undefined
}

/** Runs the broadcaster in this process until the test ends. */
export async function startSse(settings: Overrides = {}): Promise<TestSse> {
  const running = await openSse(settings)
  onTestFinished(async () => void (await running.stop()))
  return running
}

/** Creates the same functions for a broadcaster of another process. @param token token of `put` */
export function createTestSse(url: string, stop: () => Promise<boolean>, token?: string): TestSse {
  const port = Number(new URL(url).port)

  async function request(method: string, path: string, options?: RequestInit): Promise<SseReply> {
    const reply = await fetch(url + path, { method, ...options })
    const text = await reply.text()
    const isJson = reply.headers.get('content-type')?.includes('json')
    return { status: reply.status, headers: reply.headers, body: isJson && text !== '' ? JSON.parse(text) : text }
  }

  const open = (query?: string, options?: TestStreamOptions) => openStream(port, query, options)

  return {
    url,
    port,
    request,
    open,
    async put(value, topic) {
      const path = topic === undefined ? '/put' : `/put?topic=${encodeURIComponent(topic)}`
      const { status, headers, body } = await request('POST', path, {
        body: value,
        ...(token && { headers: toBearerHeader(token) }),
      })
      if (status !== 200) throw Object.assign(new Error(`put: ${status}`), { status, code: body.code })
      return headers.get('event-id')!
    },
    openBoth: (query, headers = {}) =>
      Promise.all([open(query, { headers }), open(query, { headers, ...VIA_FASTIFY })]),
    async readMetric(name) {
      const { body } = await request('GET', '/metrics')
      const line = String(body)
        .split('\n')
        .find((one) => one.startsWith(`${name} `) || one.startsWith(`${name}{`))
      return Number(line?.split(' ').at(-1))
    },
    stop,
  }
}
