import { defineSettings, defineServiceUrl, type SettingValues } from '@influencer-stats/runtime/define-settings'
import { commonSettings, type StandInSettings } from '@influencer-stats/runtime/settings'
import { StartError } from '@influencer-stats/runtime/errors'
import { logSettings } from '@influencer-stats/log/settings'
import { STAND_IN } from './core/sources.ts'
import { getPartNames, SHARED_STATES } from './parts.ts'

const count = { type: 'integer', minimum: 1 } as const
const timeout = { ...count, maximum: 600_000 } as const

/** The settings of the stats service. Durations in milliseconds. */
export const settings = defineSettings({
  // The default parts allocate little, so a smaller semi-space saves 15 MB of memory for 2 % more processor time.
  maxSemiSpaceSize: { ...commonSettings.maxSemiSpaceSize, default: 1 },
  logger: { type: 'string', enum: getPartNames('logger'), default: 'pino', description: 'logger of the service' },
  client: {
    type: 'string',
    enum: getPartNames('client'),
    default: 'batching',
    description: 'client of the YouTube Data API',
  },
  state: { type: 'string', enum: getPartNames('state'), default: 'level', description: 'store of the collections' },
  cache: { type: 'string', enum: getPartNames('cache'), default: 'poller', description: 'cache of the statistics' },
  youtubeUri: {
    ...defineServiceUrl('youtube', 'origin of the YouTube Data API; empty for the stand-in', { env: 'YOUTUBE_URI' }),
    pattern: '^(https?://[^/\\s?#@]+/*)?$',
    patternDescription: 'an address without a path, such as https://www.googleapis.com',
  },
  sseUri: defineServiceUrl('sse', 'URL of sse for changed numbers; empty for the one started here', {
    env: 'SSE_URI',
    when: { cache: 'poller' },
    optional: true,
  }),
  kvUri: defineServiceUrl('kv', 'URL of kv for --state kv; empty for the one started here', {
    env: 'KV_URI',
    when: { state: 'kv' },
  }),
  youtubeApiKey: {
    type: 'string',
    default: 'stand-in',
    env: 'YOUTUBE_API_KEY',
    secret: true,
    description: 'key of the YouTube Data API',
  },
  youtubeApiKeyFile: {
    type: 'string',
    default: '',
    env: 'YOUTUBE_API_KEY_FILE',
    description: 'file of the key, watched; its second line is the standby key',
  },
  connectorToken: {
    type: 'string',
    default: '',
    env: 'CONNECTOR_TOKEN',
    secret: true,
    description: 'bearer token that can only report numbers of posts',
  },
  upstreamTimeout: { ...timeout, default: 5_000, description: 'timeout of a call to the YouTube API (ms)' },
  readTimeout: { ...timeout, default: 10_000, description: 'timeout of a read of a collection without numbers (ms)' },
  upstreamConnections: {
    ...count,
    default: 16,
    maximum: 1_024,
    description: 'maximum connections to the YouTube API per thread',
  },
  refreshInterval: {
    ...count,
    default: 10_000,
    maximum: 86_400_000,
    description: 'minimum time between two refreshes of a number (ms)',
  },
  sourceInterval: {
    ...count,
    default: 900_000,
    maximum: 86_400_000,
    description: 'minimum time between two reads of a followed channel (ms)',
  },
  dailyBudget: {
    type: 'integer',
    default: 10_000,
    minimum: 0,
    maximum: 1_000_000_000,
    description: 'maximum YouTube quota per day (units); 0 for no limit',
  },
  historyDays: {
    ...count,
    default: 30,
    maximum: 3_650,
    description: 'retention of hourly points of the history (days)',
  },
  historyMonths: {
    type: 'integer',
    default: 25,
    minimum: 0,
    maximum: 120,
    description: 'retention of daily points of the history (months)',
  },
  trashDays: {
    type: 'integer',
    default: 30,
    minimum: 0,
    maximum: 3_650,
    description: 'retention of deleted collections (days); 0 for none',
  },
  cacheSize: {
    ...count,
    default: 10_000,
    maximum: 10_000_000,
    description: 'maximum collections in the lru cache, per thread',
  },
  ...logSettings,
  // Below the usual interval of a million entries: the state is small, and the lease alone writes 50,000 entries a day.
  snapshotIntervalEntries: { ...logSettings.snapshotIntervalEntries, default: 100_000 },
  pollerLeaseTtl: {
    type: 'integer',
    default: 5_000,
    minimum: 500,
    maximum: 600_000,
    formerly: 'pollerLease',
    description: 'time after which another node replaces an unresponsive poller (ms)',
  },
  replaceSource: {
    type: 'string',
    default: '',
    description: 'present source of the cluster, which the API of this node replaces',
  },
})

/** The stats service's own settings. */
export type StatsConfig = SettingValues<typeof settings>

/** Returns the source of this process's numbers: the origin of the configured API, or `stand-in` (invented numbers). */
export const getSource = ({ youtubeUri, standIns }: Pick<StatsConfig, 'youtubeUri'> & StandInSettings): string =>
  standIns?.includes('youtubeUri') ? STAND_IN : getOrigin(youtubeUri)

/** Returns the origin of a URL, or the text itself if it is no URL. */
export const getOrigin = (uri: string): string => URL.parse(uri)?.origin ?? uri

const isGoogle = (uri: string) => /(^|\.)googleapis\.com$/.test(URL.parse(uri)?.hostname ?? '')

/**
 * Checks the settings of the YouTube API.
 * @throws StartError `SETTINGS_WRONG` if no call could ever succeed
 */
export function checkUpstream({ youtubeUri, youtubeApiKey }: Pick<StatsConfig, 'youtubeUri' | 'youtubeApiKey'>): void {
  const toStartError = (reason: string) => new StartError('SETTINGS_WRONG', `stats: ${reason}`)
  if (youtubeUri !== '' && !URL.canParse(youtubeUri))
    throw toStartError(`YOUTUBE_URI: ${JSON.stringify(youtubeUri)} is not an address`)
  if (isGoogle(youtubeUri) && youtubeApiKey === settings.youtubeApiKey.default)
    throw toStartError(`the API at ${youtubeUri} requires a key: set YOUTUBE_API_KEY_FILE or YOUTUBE_API_KEY`)
}

/** True if the main thread owns the state; otherwise the only serving thread does. */
export const isStateOnMain = ({ state, cache }: Pick<StatsConfig, 'state' | 'cache'>): boolean =>
  SHARED_STATES.includes(state) || cache === 'poller'
