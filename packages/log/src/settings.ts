import { defineSettings, type SettingValues } from '@influencer-stats/runtime/settings'

const fileSetting = { type: 'string', default: '', when: { log: 'jetstream' } } as const

/** Settings of a service that writes through a log. Durations in milliseconds. */
export const logSettings = defineSettings({
  log: {
    type: 'string',
    enum: ['local', 'jetstream'],
    default: 'local',
    group: 'cluster',
    description: 'log of writes: local, or jetstream (NATS) for a cluster',
  },
  natsUrl: {
    type: 'array',
    items: { type: 'string', minLength: 1 },
    default: ['nats://127.0.0.1:4222'],
    env: 'NATS_URL',
    // The addresses may contain a password.
    secret: true,
    group: 'cluster',
    description: 'addresses of NATS servers',
  },
  natsStream: {
    type: 'string',
    default: '',
    pattern: '^[\\w-]{0,64}$',
    group: 'cluster',
    description: 'name of the stream; by default the name of the service',
  },
  natsReplicas: {
    type: 'integer',
    default: 3,
    minimum: 1,
    maximum: 5,
    group: 'cluster',
    description: 'replicas of a new stream; a majority must be up for writes',
  },
  natsCredentials: {
    ...fileSetting,
    env: 'NATS_CREDENTIALS',
    group: 'cluster',
    description: 'credentials file of NATS (JWT and key)',
  },
  natsNkey: { ...fileSetting, env: 'NATS_NKEY', group: 'cluster', description: 'nkey seed file of NATS' },
  natsCa: {
    ...fileSetting,
    env: 'NATS_CA',
    group: 'cluster',
    description: 'CA certificates file for NATS (PEM); enables TLS',
  },
  natsCert: {
    ...fileSetting,
    env: 'NATS_CERT',
    group: 'cluster',
    description: 'client certificate file for NATS (PEM)',
  },
  natsKey: {
    ...fileSetting,
    env: 'NATS_KEY',
    group: 'cluster',
    description: 'private key file of the client certificate (PEM)',
  },
  // In spite of its name, it counts sequences, not entries: the entries of one frame share a sequence.
  snapshotIntervalEntries: {
    type: 'integer',
    default: 1_000_000,
    minimum: 1,
    maximum: 1_000_000_000,
    group: 'cluster',
    formerly: 'snapshotEvery',
    description: 'sequences between snapshots; the log is trimmed to the previous one',
  },
  sequenceWaitTimeout: {
    type: 'integer',
    default: 5_000,
    minimum: 1,
    maximum: 25_000,
    group: 'cluster',
    formerly: 'behindTimeout',
    description: 'timeout of a read that waits for a sequence of the log (ms)',
  },
  appendTimeout: {
    type: 'integer',
    default: 15_000,
    minimum: 100,
    maximum: 25_000,
    group: 'cluster',
    description: 'timeout of a write to the log (ms); an election takes up to 9 s',
  },
})

/** True for a node of a cluster, false for a standalone service. */
export const isCluster = ({ log }: Pick<SettingValues<typeof logSettings>, 'log'>): boolean => log === 'jetstream'
