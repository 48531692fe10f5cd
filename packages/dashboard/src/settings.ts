import {
  commonSettings,
  defineSettings,
  serviceUrls,
  type CommonSettings,
  type ValuesOf,
} from '@influencer-stats/runtime/settings'

/** The settings of the dashboard. Durations in milliseconds. */
export const settings = defineSettings({
  // People are few: a thread would make it twice as large.
  threads: { ...commonSettings.threads, default: '0' },
  statsUri: serviceUrls('stats', 'where campaigns and their numbers are; empty means the one started beside this', {
    env: 'STATS_URI',
  }),
  sseUri: serviceUrls('sse', 'where numbers are told as they change; empty means the one started beside this', {
    env: 'SSE_URI',
  }),
  pricesUri: serviceUrls('prices', 'where prices are; empty means the one started beside this, if any', {
    env: 'PRICES_URI',
    optional: true,
    early: true,
  }),
  kvUri: serviceUrls('kv', 'the key-value service, whose health is shown; empty means the one started beside this', {
    env: 'KV_URI',
    optional: true,
    early: true,
  }),
  demo: {
    type: 'string',
    enum: ['on', 'off'],
    default: 'on',
    description: 'whether demo campaigns are made at the first start, where the numbers are those of the stand-in',
  },
  serviceTimeout: {
    type: 'integer',
    default: 15_000,
    minimum: 1,
    maximum: 600_000,
    description: 'a service may take to begin its reply (ms)',
  },
  maxStreams: {
    type: 'integer',
    default: 1_000,
    minimum: 1,
    maximum: 1_000_000,
    description: 'most open streams of pages, each thread',
  },
  sessionDays: {
    type: 'integer',
    default: 7,
    minimum: 1,
    maximum: 365,
    description: 'how long a browser stays signed in (days)',
  },
})

export type DashboardConfig = ValuesOf<typeof settings> & CommonSettings
