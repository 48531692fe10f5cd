import { createRequester, ignoreErrors, readJson } from '@influencer-stats/runtime/service-client'
import { createStatsClient } from '@influencer-stats/stats/client'
import { setTimeout as delay } from 'node:timers/promises'
import type { DashboardConfig } from './settings.ts'
import { toDataSource } from './upstream/data-source.ts'

// Videos that grow fast in the stand-in: 500 to 1,000 views an hour.
const DEMO_CAMPAIGNS = [
  {
    id: 'demo-summer',
    name: 'Demo: Summer drinks',
    tags: ['demo', 'drinks'],
    videos: ['kkHvZ4nIAbF', 'MJpKEX3Y34e', 'xYhoIuA6wTs', 'WZdNMR0MTjh', 'zFA0xJXzBBQ'],
    cost: 180_000,
    currency: 'EUR',
  },
  {
    id: 'demo-city',
    name: 'Demo: City bikes',
    tags: ['demo', 'mobility'],
    videos: ['wtmGImMds8u', 'haSaXxISpMw', '7FSoSSbqOCb', '1dnd2CLXeU2'],
    cost: 140_000,
    currency: 'EUR',
  },
  {
    id: 'demo-books',
    name: 'Demo: Autumn books',
    tags: ['demo'],
    videos: ['aVR1yTfUKO4', 'W9TFTJmVgsf', 'fI5uEWSIo0m'],
  },
] as const

const MAX_RETRIES = 5

/**
 * Creates the demo campaigns if the stand-in invents the numbers, even if other campaigns exist.
 * @returns true if they exist now, and must not be created again
 */
export async function createDemo(config: DashboardConfig, signal: AbortSignal): Promise<boolean> {
  const { statsUri, apiToken, readToken } = config
  const [url] = statsUri.split(',')
  if (config.demo === 'off' || !url) return false
  const token = apiToken || readToken
  const request = createRequester(url, { token })
  const stats = createStatsClient(url, { token })
  for (let remaining = MAX_RETRIES; ; remaining--) {
    try {
      const version = await readJson<{ source?: string }>(request('GET', '/version', { signal }))
      if (toDataSource(version) !== 'stand-in') return false
      for (const { id, ...content } of DEMO_CAMPAIGNS)
        await ignoreErrors(stats.put(id, content, { ifAbsent: true }), 'CONDITION_FAILED')
      return true
    } catch (error) {
      if (remaining === 0 || signal.aborted) throw error
      await delay(1_000, undefined, { signal })
    }
  }
}
