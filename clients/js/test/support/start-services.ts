import { afterAll } from 'vitest'
import { embed, type Overrides } from '@influencer-stats/runtime/embed'
import { createTemporaryFolder } from '@influencer-stats/runtime/testing/temporary-folder'
import { services } from '../../../../services.ts'

const SERVICES = new URL('../../../../services.ts', import.meta.url).href

/** Addresses of the services, under the names of the variables that the examples read. */
export type ServiceUrls = Record<'STATS_URL' | 'KV_URL' | 'SSE_URL' | 'PRICES_URL', string>

/** Starts a service on a free port until the tests of the file have ended. @returns its URL */
export async function startService(name: string, settings: Overrides = {}): Promise<string> {
  const running = await embed(await services[name]!(), settings, SERVICES)
  afterAll(() => running.stop())
  return running.url
}

/** Starts the services of the client, with the stand-in for YouTube. @param settings settings of each */
export async function startServices(settings: Overrides = {}): Promise<ServiceUrls> {
  const start = (name: string, own: Overrides = {}) =>
    startService(name, { data: createTemporaryFolder(), ...settings, ...own })
  const youtubeUri = await startService('youtube')
  const SSE_URL = await start('sse', { retry: 100 })
  const [STATS_URL, KV_URL, PRICES_URL] = await Promise.all([
    start('stats', { youtubeUri, youtubeApiKey: 'stand-in', sseUri: SSE_URL, refreshInterval: 1_000 }),
    start('kv'),
    start('prices', { sample: 'no' }),
  ])
  return { STATS_URL, KV_URL, SSE_URL, PRICES_URL }
}
