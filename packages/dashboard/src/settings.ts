import {
  defineSettings,
  defineServiceUrl,
  defineServiceUrls,
  type SettingValues,
} from '@influencer-stats/runtime/define-settings'
import { commonSettings, type CommonSettings } from '@influencer-stats/runtime/settings'

/** The settings of the dashboard. Durations in milliseconds. */
export const settings = defineSettings({
  // The dashboard has few users, and a serving thread would double its memory.
  threads: { ...commonSettings.threads, default: '0' },
  statsUri: defineServiceUrls('stats', 'URLs of stats; empty for the one started here', { env: 'STATS_URI' }),
  sseUri: defineServiceUrls('sse', 'URLs of sse; empty for the one started here', { env: 'SSE_URI' }),
  pricesUri: defineServiceUrls('prices', 'URLs of prices; empty for the one started here, if any', {
    env: 'PRICES_URI',
    optional: true,
    early: true,
  }),
  kvUri: defineServiceUrls('kv', 'URLs of kv; empty for the one started here, if any', {
    env: 'KV_URI',
    optional: true,
    early: true,
  }),
  thumbnailUri: {
    ...defineServiceUrl('youtube', 'origin of video pictures; empty for the stand-in or i.ytimg.com', {
      env: 'THUMBNAIL_URI',
      optional: true,
      early: true,
    }),
    pattern: '^(https?://[^/\\s?#@]+/*)?$',
    patternDescription: 'an address without a path, such as https://i.ytimg.com',
  },
  demo: {
    type: 'string',
    enum: ['on', 'off'],
    default: 'on',
    description: 'demo campaigns at the first start, with the stand-in only',
  },
  serviceTimeout: {
    type: 'integer',
    default: 15_000,
    minimum: 1,
    maximum: 600_000,
    description: 'timeout of the first reply byte of a service (ms)',
  },
  maxStreams: {
    type: 'integer',
    default: 1_000,
    minimum: 1,
    maximum: 1_000_000,
    description: 'maximum open streams of pages per thread',
  },
  sessionDays: {
    type: 'integer',
    default: 7,
    minimum: 1,
    maximum: 365,
    description: 'session lifetime of a browser (days)',
  },
})

export type DashboardConfig = SettingValues<typeof settings> & CommonSettings
