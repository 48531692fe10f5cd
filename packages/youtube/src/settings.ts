import { defineSettings, type CommonSettings, type ValuesOf } from '@influencer-stats/runtime/settings'

/** What the stand-in can be told at its start. */
export const settings = defineSettings({
  apiKeys: {
    type: 'array',
    items: { type: 'string', minLength: 1 },
    default: ['stand-in'],
    // The same variable as that of the services which call it, so that both sides agree.
    env: 'YOUTUBE_API_KEY',
    secret: true,
    description: 'keys that are accepted',
  },
  quota: {
    type: 'integer',
    default: 0,
    minimum: 0,
    maximum: 2_147_483_647,
    description: 'calls a day, counted anew at midnight Pacific Time; 0 for no limit',
  },
})

export type Config = ValuesOf<typeof settings> & CommonSettings
