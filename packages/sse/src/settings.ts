import { logSettings } from '@influencer-stats/log/settings'
import { commonSettings, defineSettings, type ValuesOf } from '@influencer-stats/runtime/settings'
import { DEFAULT_TOPIC } from './core/event.ts'
import { namesOf } from './parts.ts'

const bytes = { type: 'integer', minimum: 1, maximum: 4_294_967_296 } as const
const count = { type: 'integer', minimum: 1, maximum: 10_000_000 } as const

/** The settings of the broadcaster. Durations in milliseconds, sizes in bytes. */
export const settings = defineSettings({
  // Streams live long and events are shared: little garbage, and 10,000 streams take 20 MB less.
  semiSpace: { ...commonSettings.semiSpace, default: 1 },
  broker: { type: 'string', enum: namesOf('broker'), default: 'threads', description: 'who gives values their order' },
  history: { type: 'string', enum: namesOf('history'), default: 'ring', description: 'who remembers values' },
  fanout: {
    type: 'string',
    enum: namesOf('fanout'),
    default: 'joined',
    description: 'a write for each value, or for all of a turn',
  },
  retry: {
    type: 'integer',
    default: 2_000,
    minimum: 1,
    maximum: 3_600_000,
    description: 'clients that lose their stream come back after (ms)',
  },
  heartbeat: {
    type: 'integer',
    default: 15_000,
    minimum: 10,
    maximum: 3_600_000,
    description: 'streams show that they live every (ms)',
  },
  maxStreams: { ...count, default: 20_000, description: 'most streams, on all threads' },
  maxStreamsPerAddress: {
    type: 'integer',
    default: 0,
    minimum: 0,
    maximum: 10_000_000,
    description: 'most streams of one address, each thread; 0 for half of maxStreams, shared by the threads',
  },
  streamBuffer: { ...bytes, default: 8_388_608, description: 'a stream that leaves more unread is cut (bytes)' },
  maxValue: {
    ...bytes,
    maximum: 67_108_864,
    default: 4_194_304,
    description: 'largest value that a POST may carry (bytes)',
  },
  maxTopics: { ...count, default: 10_000, description: 'topics whose values are remembered' },
  historyCount: { ...count, default: 1_000, description: 'values remembered of a topic' },
  historyBytes: { ...bytes, default: 1_048_576, description: 'values remembered of a topic (bytes of memory)' },
  historyTotal: {
    ...bytes,
    default: 67_108_864,
    description: 'values remembered of all topics, by all threads together (bytes of memory)',
  },
  historyAge: {
    type: 'integer',
    default: 3_600_000,
    minimum: 1,
    maximum: 2_592_000_000,
    description: 'values are remembered for (ms)',
  },
  maxLag: { ...count, default: 20_000, description: 'values put and not yet with every thread; beyond, puts get 503' },
  maxLagBytes: { ...bytes, default: 67_108_864, description: 'the same in bytes' },
  mercureIssuer: {
    type: 'string',
    default: '',
    env: 'MERCURE_ISSUER',
    description: 'who makes access tokens: what they must name as `iss`',
  },
  mercureAudience: {
    type: 'string',
    default: '',
    env: 'MERCURE_AUDIENCE',
    description: "whom access tokens are for: what they must name in `aud`, the hub's URL",
  },
  mercureJwtKey: {
    type: 'string',
    default: '',
    env: 'MERCURE_JWT_KEY',
    secret: true,
    description: 'key of access tokens: a secret of 32 characters or more (HS256), or a public key as PEM',
  },
  mercureJwksFile: {
    type: 'string',
    default: '',
    env: 'MERCURE_JWKS_FILE',
    description: 'file that holds the keys of access tokens as a JSON Web Key Set',
  },
  mercureAnonymous: {
    type: 'string',
    enum: ['off', 'on'],
    default: 'off',
    env: 'MERCURE_ANONYMOUS',
    description: 'whether who shows no token may subscribe to public updates',
  },
  ...logSettings,
  natsStorage: {
    type: 'string',
    enum: ['file', 'memory'],
    default: 'file',
    when: { log: 'jetstream' },
    description:
      'where the servers keep the stream, where it is made: memory is faster, and gone when more than half of them are',
  },
  // What is remembered is small, and a node that starts reads what lies behind it.
  snapshotEvery: { ...logSettings.snapshotEvery, default: 50_000 },
  snapshotBytes: {
    ...bytes,
    default: 268_435_456,
    when: { log: 'jetstream' },
    description: 'the same after so many bytes',
  },
  metricTopics: {
    type: 'array',
    items: { type: 'string', minLength: 1 },
    default: [DEFAULT_TOPIC],
    description: 'topics with figures of their own in /metrics',
  },
})

/** The broadcaster's own settings. */
export type SseConfig = ValuesOf<typeof settings>
