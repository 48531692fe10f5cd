import { defineSettings, type SettingValues } from '@influencer-stats/runtime/define-settings'

const fileSetting = { type: 'string', default: '' } as const

/** Addresses of NATS servers. They may contain a password. */
const serverList = {
  type: 'array',
  items: { type: 'string', minLength: 1 },
  secret: true,
  group: 'cluster',
} as const

/** Settings of a service that writes through a log. Durations in milliseconds. */
export const logSettings = defineSettings({
  cluster: {
    ...serverList,
    default: [],
    env: 'NATS_CLUSTER',
    description: 'addresses of NATS servers: makes this process a node of a cluster',
  },
  log: {
    type: 'string',
    enum: ['local', 'jetstream'],
    default: 'local',
    group: 'cluster',
    description: 'deprecated: jetstream makes a node; use --cluster',
  },
  natsUrl: {
    ...serverList,
    default: ['nats://127.0.0.1:4222'],
    env: 'NATS_URL',
    description: 'deprecated: servers for --log jetstream; use --cluster',
  },
  clusterName: {
    type: 'string',
    default: '',
    pattern: '^[\\w-]{0,32}$',
    env: 'CLUSTER_NAME',
    group: 'cluster',
    description: 'name of the cluster, such as staging; a part of the stream name',
  },
  natsStream: {
    type: 'string',
    default: '',
    pattern: '^[\\w-]{0,64}$',
    group: 'cluster',
    description: 'name of the stream; by default that of cluster and service',
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

type ModeSettings = Pick<SettingValues<typeof logSettings>, 'cluster' | 'log'>

/** True for a node of a cluster, false for a standalone service. */
export const isCluster = ({ cluster, log }: ModeSettings): boolean => cluster.length > 0 || log === 'jetstream'

/**
 * Returns the reason why `pnpm restore` does not restore a service with this configuration, and the alternative.
 * Undefined if it does.
 */
export const getNoRestoreReason = (service: string, settings: ModeSettings): string | undefined =>
  isCluster(settings)
    ? 'the nodes of a cluster load their data from its log: ' +
      `\`pnpm cluster rescue ${service} --from FILE.backup\` continues it from the backup of a node, ` +
      `and \`pnpm ${service} import\` adds the export of any service`
    : undefined

/** Returns the addresses of a cluster's NATS servers. */
export const getServers = ({ cluster, natsUrl }: Pick<SettingValues<typeof logSettings>, 'cluster' | 'natsUrl'>) =>
  cluster.length > 0 ? cluster : natsUrl

/** Returns the name of the stream of a service. */
export const getStreamName = (
  { clusterName, natsStream }: Pick<SettingValues<typeof logSettings>, 'clusterName' | 'natsStream'>,
  service: string,
): string => natsStream || (clusterName === '' ? service : `${clusterName}-${service}`)
