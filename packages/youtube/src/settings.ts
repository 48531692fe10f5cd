import {
  commonSettings,
  defineSettings,
  type CommonSettings,
  type SettingValues,
} from '@influencer-stats/runtime/settings'

/** What the stand-in can be told at its start. */
export const settings = defineSettings({
  // Google's refusals are what it is told to give: it has none of its own.
  maxQueueDelay: { ...commonSettings.maxQueueDelay, default: 0 },
  // It has little to do: a thread would make it twice as large.
  threads: { ...commonSettings.threads, default: '0' },
  // Who asks it logs what it asked.
  requestLogSampling: { ...commonSettings.requestLogSampling, default: 0 },
  apiKeys: {
    type: 'array',
    items: { type: 'string', minLength: 1 },
    default: ['stand-in'],
    // The same variable as that of the services which call it, so that both sides agree.
    env: 'YOUTUBE_API_KEY',
    secret: true,
    description: 'accepted API keys',
  },
  quota: {
    type: 'integer',
    default: 0,
    minimum: 0,
    maximum: 2_147_483_647,
    description: 'quota per day (calls, Pacific time); 0 for no limit',
  },
})

export type YoutubeConfig = SettingValues<typeof settings> & CommonSettings
