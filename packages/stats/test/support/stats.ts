import { buildConfig, LENIENT_TIMEOUTS as PATIENT_SERVICE, type Overrides } from '@influencer-stats/runtime/embed'
import { startService, type RunningService } from '@influencer-stats/runtime/service-host'
import { pino, type Logger } from 'pino'
import { stats } from '../../src/service.ts'

const SERVICES = new URL('../../../../services.ts', import.meta.url).href

/** Long timeouts, so that a busy machine causes no failure (ms). */
const PATIENT_SETTINGS = { upstreamTimeout: 30_000, readTimeout: 30_000 }

/** A collection as replies state it, without its version and the time of its first PUT. */
export function toContent({ version: _version, created: _created, ...content }: Record<string, unknown>) {
  return content
}

/** A reply in the form that tests compare. */
export interface StatsReply {
  readonly status: number
  readonly headers: Headers
  readonly body: any
}

/** A running stats service with helper methods. */
export interface TestStats {
  readonly url: string
  get(path: string, headers?: Record<string, string>): Promise<StatsReply>
  put(path: string, body?: unknown, headers?: Record<string, string>): Promise<StatsReply>
  post(path: string, body?: unknown, headers?: Record<string, string>): Promise<StatsReply>
  patch(path: string, body: unknown, headers?: Record<string, string>): Promise<StatsReply>
  delete(path: string, headers?: Record<string, string>): Promise<StatsReply>
  stop(): Promise<boolean>
}

export const startStats = (settings: Overrides, log?: Logger): Promise<TestStats> => start(settings, [], log)

/** Starts stats without `YOUTUBE_URI`, as if the supervisor had passed the address of the stand-in. */
export const startOnStandIn = (settings: Overrides): Promise<TestStats> => start(settings, ['youtubeUri'])

async function start(settings: Overrides, standIns: readonly string[], log = pino({ level: 'silent' })) {
  const own = { port: 0, threads: 0, logLevel: 'silent', logger: 'silent' }
  const config = { ...buildConfig(stats, { ...own, ...PATIENT_SERVICE, ...PATIENT_SETTINGS, ...settings }), standIns }
  return createTestStats(await startService({ services: SERVICES, definition: stats, config, log }))
}

function createTestStats(running: RunningService): TestStats {
  async function sendRequest(
    method: string,
    path: string,
    body?: unknown,
    headers: Record<string, string> = {},
  ): Promise<StatsReply> {
    const withBody = body === undefined ? {} : { body: typeof body === 'string' ? body : JSON.stringify(body) }
    const type = body === undefined ? {} : { 'content-type': 'application/json' }
    const reply = await fetch(running.url + path, { method, ...withBody, headers: { ...type, ...headers } })
    const text = await reply.text()
    const isJson = reply.headers.get('content-type')?.includes('json')
    return { status: reply.status, headers: reply.headers, body: isJson && text !== '' ? JSON.parse(text) : text }
  }

  return {
    url: running.url,
    get: (path, headers) => sendRequest('GET', path, undefined, headers),
    put: (path, body, headers) => sendRequest('PUT', path, body, headers),
    post: (path, body, headers) => sendRequest('POST', path, body, headers),
    patch: (path, body, headers) => sendRequest('PATCH', path, body, headers),
    delete: (path, headers) => sendRequest('DELETE', path, undefined, headers),
    stop: () => running.stop(),
  }
}
