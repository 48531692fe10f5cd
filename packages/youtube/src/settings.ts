import { defineSettings, type SettingValues } from '@influencer-stats/runtime/define-settings'
import { commonSettings, type CommonSettings } from '@influencer-stats/runtime/settings'

/** The settings of the stand-in. */
export const settings = defineSettings({
  // The stand-in must return no other errors than Google's API, so it has no load shedding.
  maxQueueDelay: { ...commonSettings.maxQueueDelay, default: 0 },
  // The main thread serves all requests: the load is small, and a serving thread would double the memory of the process.
  threads: { ...commonSettings.threads, default: '0' },
  // 0 is off: the client of the stand-in logs its own requests.
  requestLogSampling: { ...commonSettings.requestLogSampling, default: 0 },
  apiKeys: {
    type: 'array',
    items: { type: 'string', minLength: 1 },
    default: ['stand-in'],
    // The services that call the stand-in use the same variable, so that both sides agree.
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
