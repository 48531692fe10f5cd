import { defineSettings } from '@influencer-stats/runtime/settings'

const file = { type: 'string', default: '', when: { log: 'jetstream' } } as const

/** The settings of a service whose changes go through a log. Durations in milliseconds. */
export const logSettings = defineSettings({
  log: {
    type: 'string',
    enum: ['local', 'jetstream'],
    default: 'local',
    description: 'what orders changes: this process alone, or NATS JetStream for many machines',
  },
  natsUrl: {
    type: 'array',
    items: { type: 'string', minLength: 1 },
    default: ['nats://127.0.0.1:4222'],
    env: 'NATS_URL',
    // It may hold a password.
    secret: true,
    description: 'servers of NATS, any of which may be away',
  },
  natsStream: {
    type: 'string',
    default: '',
    pattern: '^[\\w-]{0,64}$',
    description: "name of the stream; by default the service's",
  },
  natsReplicas: {
    type: 'integer',
    default: 3,
    minimum: 1,
    maximum: 5,
    description: 'servers that keep the stream, where it is made: more than half of them must be there for changes',
  },
  natsCredentials: { ...file, env: 'NATS_CREDENTIALS', description: "file of a user's JWT and key" },
  natsNkey: { ...file, env: 'NATS_NKEY', description: "file of a user's nkey seed" },
  natsCa: { ...file, env: 'NATS_CA', description: 'file of the certificates that servers of NATS are trusted by: TLS' },
  natsCert: { ...file, env: 'NATS_CERT', description: 'file of the own certificate for TLS' },
  natsKey: { ...file, env: 'NATS_KEY', description: 'file of the key of that certificate' },
  snapshotEvery: {
    type: 'integer',
    default: 1_000_000,
    minimum: 1,
    maximum: 1_000_000_000,
    description:
      'after so many places in the log a node puts a snapshot beside it, and the log behind the last one goes',
  },
  behindTimeout: {
    type: 'integer',
    default: 5_000,
    minimum: 1,
    maximum: 25_000,
    description: 'a read waits for what it is to see for so long (ms)',
  },
  appendTimeout: {
    type: 'integer',
    default: 15_000,
    minimum: 100,
    maximum: 25_000,
    description: 'a change waits for the log for so long; its leader may be away for 9 s (ms)',
  },
})
