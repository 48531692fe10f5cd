import { logSettings } from '@influencer-stats/log/settings'
import { defineSettings, type ValuesOf } from '@influencer-stats/runtime/settings'
import { MAX_VALUE } from './core/limits.ts'
import { namesOf } from './parts.ts'

const bytes = { type: 'integer', minimum: 1, maximum: MAX_VALUE } as const

/** The settings of the key-value service. Durations in milliseconds, sizes in bytes unless named otherwise. */
export const settings = defineSettings({
  store: { type: 'string', enum: namesOf('store'), default: 'level', description: 'where values are kept' },
  commit: {
    type: 'string',
    enum: namesOf('commit'),
    default: 'group',
    description: 'how writes reach LevelDB: those of one turn as one batch, or one by one',
  },
  cacheMegabytes: {
    type: 'integer',
    default: 128,
    minimum: 1,
    maximum: 4_095,
    description: "LevelDB's cache of blocks (MiB)",
  },
  valueLimit: { ...bytes, default: 16_777_216, description: 'largest value (bytes)' },
  batchLimit: { ...bytes, default: 33_554_432, description: 'largest body of a batch (bytes)' },
  batchLines: {
    type: 'integer',
    default: 100_000,
    minimum: 1,
    maximum: 10_000_000,
    description: 'most lines of a batch',
  },
  queueBytes: { ...bytes, default: 67_108_864, description: 'most bytes that wait to be written, each thread' },
  queueWrites: {
    type: 'integer',
    default: 10_000,
    minimum: 1,
    maximum: 10_000_000,
    description: 'most writes that wait to be written, each thread',
  },
  queueTimeout: {
    type: 'integer',
    default: 2_000,
    minimum: 1,
    maximum: 600_000,
    description: 'a write waits for room in the queue for (ms)',
  },
  maxWatchers: {
    type: 'integer',
    default: 10_000,
    minimum: 1,
    maximum: 10_000_000,
    description: 'most streams of changes, each thread',
  },
  watchHistory: {
    ...bytes,
    default: 16_777_216,
    description: 'changes that are kept for streams which were lost and come back (bytes of memory)',
  },
  watchBuffer: {
    ...bytes,
    default: 8_388_608,
    description: 'a stream of changes that leaves more unread is cut (bytes)',
  },
  watchHeartbeat: {
    type: 'integer',
    default: 15_000,
    minimum: 10,
    maximum: 3_600_000,
    description: 'streams of changes show that they live, and how far they are, every (ms)',
  },
  ...logSettings,
})

/** The key-value service's own settings. */
export type KvConfig = ValuesOf<typeof settings>
