import { buildConfig, embed, LENIENT_TIMEOUTS, type Overrides } from '@influencer-stats/runtime/embed'
import { startService } from '@influencer-stats/runtime/service-host'
import { createTemporaryFolder } from '@influencer-stats/runtime/testing/temporary-folder'
import { sse } from '@influencer-stats/sse/service'
import { createStatsClient, type StatsClient } from '@influencer-stats/stats/client'
import { stats } from '@influencer-stats/stats/service'
import { createControl } from '@influencer-stats/youtube/client'
import { youtube } from '@influencer-stats/youtube/service'
import { pino } from 'pino'
import { onTestFinished } from 'vitest'
import { dashboard } from '../../src/service.ts'
import type { ServiceSettings } from './processes.ts'

/** The dashboard and the services that it shows, for tests. */
export interface TestStack {
  /** Address of the dashboard. */
  readonly url: string
  readonly statsUrl: string
  readonly sseUrl: string
  readonly stats: StatsClient
  readonly control: ReturnType<typeof createControl>
  /** Restarts only the dashboard, with the same data. */
  restart(overrides?: ServiceSettings, whileStopped?: () => Promise<void>): Promise<string>
  /** Data folder of the dashboard. */
  readonly data: string
  stop(): Promise<boolean>
}

interface TestStackOptions {
  readonly dashboard?: ServiceSettings
  /** Settings of stats, sse and the dashboard. */
  readonly all?: ServiceSettings
  /** Interval between two refreshes of all numbers (ms). */
  readonly refreshInterval?: number
  /** Minimum interval between two checks of a followed channel or playlist (ms). */
  readonly sourceInterval?: number
  /** Source of stats. The stand-in by default. */
  readonly source?: 'stand-in' | 'gateway'
  /** URL of an existing broadcaster. By default the stack starts one. */
  readonly sseUri?: string
}

type EmbeddedService = ReturnType<typeof embed>

async function stopAfterTest(starting: EmbeddedService): EmbeddedService {
  const running = await starting
  onTestFinished(async () => void (await running.stop()))
  return running
}

const run = (definition: Parameters<typeof embed>[0], settings: Overrides) => stopAfterTest(embed(definition, settings))

/** Starts stats like the supervisor: stats knows if its address is that of the stand-in. */
function runStats(settings: Overrides, isStandIn: boolean) {
  const config = buildConfig(stats, { port: 0, threads: 0, logLevel: 'silent', ...LENIENT_TIMEOUTS, ...settings })
  const standIns = isStandIn ? ['youtubeUri'] : []
  const log = pino({ level: 'silent' })
  return stopAfterTest(startService({ services: '', definition: stats, config: { ...config, standIns }, log }))
}

/** Starts all services in this process until the test ends. By default stats reads the stand-in's numbers five times a second. */
export async function startStack({
  dashboard: own = {},
  all = {},
  refreshInterval = 200,
  sourceInterval,
  source = 'stand-in',
  sseUri,
}: TestStackOptions = {}): Promise<TestStack> {
  const standIn = await run(youtube, {})
  const sseUrl = sseUri ?? (await run(sse, { data: createTemporaryFolder(), ...all })).url
  const settings = {
    data: createTemporaryFolder(),
    youtubeUri: standIn.url,
    sseUri: sseUrl,
    refreshInterval,
    dailyBudget: 0,
    ...(sourceInterval !== undefined && { sourceInterval }),
    logger: 'silent',
    ...all,
  }
  const { url: statsUrl } = await runStats(settings, source === 'stand-in')
  const data = createTemporaryFolder()
  const start = (more: ServiceSettings = {}) =>
    run(dashboard, {
      statsUri: statsUrl,
      sseUri: sseUrl,
      thumbnailUri: standIn.url,
      data,
      demo: 'off',
      ...all,
      ...own,
      ...more,
    })
  let running = await start()
  const token = all.apiToken as string | undefined
  return {
    url: running.url,
    statsUrl,
    sseUrl,
    stats: createStatsClient(statsUrl, token === undefined ? {} : { token }),
    control: createControl(standIn.url),
    data,
    async restart(more, whileStopped) {
      await running.stop()
      await whileStopped?.()
      running = await start(more)
      return running.url
    },
    stop: () => running.stop(),
  }
}

/** Sends a request like a program that is not a browser. */
export async function sendRequest(
  url: string,
  method = 'GET',
  { headers = {}, body }: { headers?: Record<string, string>; body?: object } = {},
) {
  const type = body && { 'content-type': 'application/json' }
  const reply = await fetch(url, {
    method,
    headers: { ...type, ...headers },
    ...(body && { body: JSON.stringify(body) }),
  })
  const text = await reply.text()
  const isJson = reply.headers.get('content-type')?.includes('json')
  return { status: reply.status, headers: reply.headers, text, body: isJson && text ? JSON.parse(text) : undefined }
}
