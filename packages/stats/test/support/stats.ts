import { buildConfig, LENIENT_TIMEOUTS as PATIENT_SERVICE, type Overrides } from '@influencer-stats/runtime/embed'
import { startService, type RunningService } from '@influencer-stats/runtime/service-host'
import { pino, type Logger } from 'pino'
import { stats } from '../../src/service.ts'

const SERVICES = new URL('../../../../services.ts', import.meta.url).href

/** Nothing is given up because a busy machine takes its time (ms). */
const PATIENT = { upstreamTimeout: 30_000, readTimeout: 30_000 }

/** A collection as replies state it, without its version and the time of its first PUT. */
export function contentOf({ version: _version, created: _created, ...content }: Record<string, unknown>) {
  return content
}

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
  patch(path: string, body: unknown, headers?: Record<string, string>): Promise<Reply>
  delete(path: string, headers?: Record<string, string>): Promise<Reply>
  stop(): Promise<boolean>
}

export const startStats = (settings: Overrides, log?: Logger): Promise<TestStats> => start(settings, [], log)

/** Starts stats without `YOUTUBE_URI`, as if the supervisor had passed the address of the stand-in. */
export const startOnStandIn = (settings: Overrides): Promise<TestStats> => start(settings, ['youtubeUri'])

async function start(settings: Overrides, standIns: readonly string[], log = pino({ level: 'silent' })) {
  const own = { port: 0, threads: 0, logLevel: 'silent', logger: 'silent' }
  const config = { ...buildConfig(stats, { ...own, ...PATIENT_SERVICE, ...PATIENT, ...settings }), standIns }
  return testStatsOf(await startService({ services: SERVICES, definition: stats, config, log }))
}

function testStatsOf(running: RunningService): TestStats {
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
    patch: (path, body, headers) => ask('PATCH', path, body, headers),
    delete: (path, headers) => ask('DELETE', path, undefined, headers),
    stop: () => running.stop(),
  }
}
