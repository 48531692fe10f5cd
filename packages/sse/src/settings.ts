import { logSettings } from '@influencer-stats/log/settings'
import { defineSettings, type SettingValues } from '@influencer-stats/runtime/define-settings'
import { commonSettings } from '@influencer-stats/runtime/settings'
import { DEFAULT_TOPIC } from './core/event.ts'
import { getPartNames } from './parts.ts'
import { TOKEN_ALGORITHMS } from './tokens/token-algorithms.ts'

const bytes = { type: 'integer', minimum: 1, maximum: 4_294_967_296 } as const
const count = { type: 'integer', minimum: 1, maximum: 10_000_000 } as const

const legacyAlgorithm = {
  type: 'string',
  enum: TOKEN_ALGORITHMS,
  default: 'HS256',
  description: 'algorithm of this key',
} as const

const checkKeySetUrl = (url: string) =>
  /^https?:$/.test(URL.parse(url)?.protocol ?? '') ? undefined : 'is not a URL such as https://issuer.example/jwks'

/** The settings of the broadcaster. Durations in milliseconds, sizes in bytes. */
export const settings = defineSettings({
  // A small semi-space is enough, because streams live long and share their events. It saves 20 MB at 10,000 streams.
  maxSemiSpaceSize: { ...commonSettings.maxSemiSpaceSize, default: 1 },
  broker: {
    type: 'string',
    enum: getPartNames('broker'),
    default: 'threads',
    description: 'broker that orders values',
  },
  history: {
    type: 'string',
    enum: getPartNames('history'),
    default: 'ring',
    description: 'history of values for clients that resume',
  },
  fanout: {
    type: 'string',
    enum: getPartNames('fanout'),
    default: 'joined',
    description: 'writes to streams: one per value, or one per event loop turn',
  },
  retry: {
    type: 'integer',
    default: 2_000,
    minimum: 1,
    maximum: 3_600_000,
    description: 'minimum reconnection time of clients (ms)',
  },
  heartbeat: {
    type: 'integer',
    default: 15_000,
    minimum: 10,
    maximum: 3_600_000,
    description: 'interval of heartbeats on streams (ms)',
  },
  maxStreams: { ...count, default: 20_000, description: 'maximum streams of all threads' },
  maxStreamsPerAddress: {
    type: 'integer',
    default: 0,
    minimum: 0,
    maximum: 10_000_000,
    description: 'maximum streams per address and thread; 0: max-streams / 2 / threads',
  },
  streamBuffer: { ...bytes, default: 8_388_608, description: 'maximum unread bytes of a stream (bytes)' },
  maxValue: {
    ...bytes,
    maximum: 67_108_864,
    default: 4_194_304,
    description: 'maximum value of a POST (bytes)',
  },
  maxTopics: { ...count, default: 10_000, description: 'maximum topics in the history' },
  historyCount: { ...count, default: 1_000, description: 'maximum values per topic in the history' },
  historyBytes: { ...bytes, default: 1_048_576, description: 'maximum history per topic (bytes)' },
  historyTotal: {
    ...bytes,
    default: 67_108_864,
    description: 'maximum history of all topics and threads (bytes)',
  },
  historyAge: {
    type: 'integer',
    default: 3_600_000,
    minimum: 1,
    maximum: 2_592_000_000,
    description: 'maximum age of values in the history (ms)',
  },
  maxLag: { ...count, default: 20_000, description: 'maximum fan-out backlog (values); puts beyond it get 503' },
  maxLagBytes: {
    ...bytes,
    default: 67_108_864,
    description: 'maximum fan-out backlog (bytes); puts beyond it get 503',
  },
  mercureIssuer: {
    type: 'array',
    items: { type: 'string', minLength: 1 },
    default: [],
    env: 'MERCURE_ISSUER',
    description: 'issuers of access tokens: their `iss`',
  },
  mercureAudience: {
    type: 'string',
    default: '',
    env: 'MERCURE_AUDIENCE',
    description: "required `aud` of access tokens: the hub's URL",
  },
  mercureJwtKey: {
    type: 'string',
    default: '',
    env: 'MERCURE_JWT_KEY',
    secret: true,
    description: 'key of access tokens: secret (HS256, 32+ characters) or PEM',
  },
  mercureJwksFile: {
    type: 'string',
    default: '',
    env: 'MERCURE_JWKS_FILE',
    description: 'JSON Web Key Set file for access tokens',
  },
  mercureJwksUrl: {
    type: 'array',
    items: { type: 'string', minLength: 1 },
    default: [],
    env: 'MERCURE_JWKS_URL',
    description: 'JSON Web Key Set URLs, one per issuer and in its order',
    check: checkKeySetUrl,
  },
  mercureCompatibility: {
    type: 'string',
    enum: ['', '8'],
    default: '',
    env: 'MERCURE_COMPATIBILITY',
    description: '8: also accept clients and tokens of Mercure 0.x',
  },
  mercurePublisherJwtKey: {
    type: 'string',
    default: '',
    env: 'MERCURE_PUBLISHER_JWT_KEY',
    secret: true,
    description: 'key of 0.x tokens of publishers; default: mercure-jwt-key',
  },
  mercurePublisherJwtAlg: { ...legacyAlgorithm, env: 'MERCURE_PUBLISHER_JWT_ALG' },
  mercureSubscriberJwtKey: {
    type: 'string',
    default: '',
    env: 'MERCURE_SUBSCRIBER_JWT_KEY',
    secret: true,
    description: 'key of 0.x tokens of subscribers; default: mercure-jwt-key',
  },
  mercureSubscriberJwtAlg: { ...legacyAlgorithm, env: 'MERCURE_SUBSCRIBER_JWT_ALG' },
  mercureSubscriptions: {
    type: 'string',
    enum: ['off', 'on'],
    default: 'off',
    env: 'MERCURE_SUBSCRIPTIONS',
    description: 'active subscriptions of Mercure: their events and API',
  },
  mercureAnonymous: {
    type: 'string',
    enum: ['off', 'on'],
    default: 'off',
    env: 'MERCURE_ANONYMOUS',
    description: 'Mercure subscriptions to public updates without a token',
  },
  ...logSettings,
  natsStorage: {
    type: 'string',
    enum: ['file', 'memory'],
    default: 'file',
    description: 'storage of a new stream: file (durable) or memory (faster)',
  },
  // Frequent snapshots are cheap, because the history is small. A starting node then reads few entries after its
  // snapshot.
  snapshotIntervalEntries: { ...logSettings.snapshotIntervalEntries, default: 50_000 },
  snapshotIntervalBytes: {
    ...bytes,
    default: 268_435_456,
    formerly: 'snapshotBytes',
    description: 'log bytes between two snapshots (bytes)',
  },
  metricTopics: {
    type: 'array',
    items: { type: 'string', minLength: 1 },
    default: [DEFAULT_TOPIC],
    description: 'topics with their own metrics',
  },
})

/** Settings of the broadcaster. */
export type SseConfig = SettingValues<typeof settings>
