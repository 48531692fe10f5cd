import { createRequester, ignoreErrors, readJson } from '@influencer-stats/runtime/service-client'
import {
  createStatsClient,
  type CollectionContent,
  type NewNumbers,
  type NewPost,
} from '@influencer-stats/stats/client'
import { setTimeout as delay } from 'node:timers/promises'
import type { DashboardConfig } from './settings.ts'
import { toDataSource } from './upstream/data-source.ts'

interface DemoCampaign {
  readonly id: string
  readonly content: CollectionContent
  readonly posts?: readonly { readonly post: NewPost; readonly numbers: NewNumbers }[]
}

const DAY_MS = 86_400_000

/** Returns a calendar day in UTC, such as `2026-11-27`. @param days from `now`, which is in ms since 1970 */
const toDay = (now: number, days: number) => new Date(now + days * DAY_MS).toISOString().slice(0, 10)

// Videos that grow fast in the stand-in: 500 to 1,000 views an hour. The creators of the fees are their channels.
const buildDemoCampaigns = (now: number): readonly DemoCampaign[] => [
  {
    id: 'demo-summer',
    content: {
      name: 'Demo: Summer drinks',
      tags: ['demo', 'drinks'],
      videos: ['kkHvZ4nIAbF', 'MJpKEX3Y34e', 'xYhoIuA6wTs', 'WZdNMR0MTjh', 'zFA0xJXzBBQ'],
      fees: [
        { creator: 'UC4626462646264626462646', amount: 60_000 },
        { creator: 'UC3017301730173017301730', amount: 45_000 },
        { creator: 'UC1321132113211321132113', amount: 40_000 },
        { creator: 'UC4703470347034703470347', amount: 20_000 },
        { creator: 'UC0821082108210821082108', amount: 15_000 },
      ],
      currency: 'EUR',
    },
    posts: [
      {
        post: {
          url: 'https://www.tiktok.com/@channel4626/video/7234567890123456789',
          creator: 'UC4626462646264626462646',
        },
        numbers: { views: 182_400, likes: 14_120, comments: 380, shares: 960, note: 'Invented, as all demo numbers' },
      },
      {
        post: { url: 'https://www.instagram.com/reel/CxDemoReel1', creator: 'UC3017301730173017301730' },
        numbers: { views: 64_900, likes: 5_210, comments: 144, saves: 830, note: 'Invented, as all demo numbers' },
      },
    ],
  },
  {
    id: 'demo-city',
    content: {
      name: 'Demo: City bikes',
      tags: ['demo', 'mobility'],
      videos: ['wtmGImMds8u', 'haSaXxISpMw', '7FSoSSbqOCb', '1dnd2CLXeU2'],
      cost: 140_000,
      currency: 'EUR',
    },
  },
  {
    // The channel has a new upload about every 14 hours.
    id: 'demo-books',
    content: {
      name: 'Demo: Autumn books',
      tags: ['demo'],
      videos: ['aVR1yTfUKO4', 'W9TFTJmVgsf', 'fI5uEWSIo0m'],
      from: toDay(now, -3),
      to: toDay(now, 27),
      sources: [{ type: 'channel', id: 'UC0028002800280028002800' }],
    },
  },
]

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
      for (const { id, content, posts = [] } of buildDemoCampaigns(Date.now())) {
        if (!(await ignoreErrors(stats.put(id, content, { ifAbsent: true }), 'CONDITION_FAILED'))) continue
        for (const { post, numbers } of posts) {
          const added = await stats.addPost(id, post)
          if (added) await stats.reportNumbers(id, added.id, numbers)
        }
      }
      return true
    } catch (error) {
      if (remaining === 0 || signal.aborted) throw error
      await delay(1_000, undefined, { signal })
    }
  }
}
