import { embed, type Overrides } from '@influencer-stats/runtime/embed'
import { stats } from '../../src/service.ts'

const SERVICES = new URL('../../../../services.ts', import.meta.url).href

/** Nothing is given up because a busy machine takes its time (ms). */
const PATIENT = { upstreamTimeout: 30_000, readTimeout: 30_000 }

/** A reply as tests look at it. */
export interface Reply {
  readonly status: number
  readonly headers: Headers
  readonly body: any
}

/** A running stats service and a few words to talk to it. */
export interface TestStats {
  readonly url: string
  get(path: string, headers?: Record<string, string>): Promise<Reply>
  put(path: string, body?: unknown, headers?: Record<string, string>): Promise<Reply>
  patch(path: string, body: unknown): Promise<Reply>
  delete(path: string): Promise<Reply>
  stop(): Promise<boolean>
}

export async function startStats(settings: Overrides): Promise<TestStats> {
  const running = await embed(stats, { logger: 'silent', ...PATIENT, ...settings }, SERVICES)

  async function ask(
    method: string,
    path: string,
    body?: unknown,
    headers: Record<string, string> = {},
  ): Promise<Reply> {
    const withBody = body === undefined ? {} : { body: typeof body === 'string' ? body : JSON.stringify(body) }
    const type = body === undefined ? {} : { 'content-type': 'application/json' }
    const reply = await fetch(running.url + path, { method, ...withBody, headers: { ...type, ...headers } })
    const text = await reply.text()
    const isJson = reply.headers.get('content-type')?.includes('json')
    return { status: reply.status, headers: reply.headers, body: isJson && text !== '' ? JSON.parse(text) : text }
  }

  return {
    url: running.url,
    get: (path, headers) => ask('GET', path, undefined, headers),
    put: (path, body, headers) => ask('PUT', path, body, headers),
    patch: (path, body) => ask('PATCH', path, body),
    delete: (path) => ask('DELETE', path),
    stop: () => running.stop(),
  }
}
