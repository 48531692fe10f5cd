import { logSettings } from '@influencer-stats/log/settings'
import { defineSettings, type SettingValues } from '@influencer-stats/runtime/define-settings'
import type { OpenContext } from '@influencer-stats/runtime/service'
import { MAX_VALUE_BYTES } from './core/key-limits.ts'
import type { KvThreadMessage } from './messages.ts'
import { getPartNames } from './parts.ts'

const bytesSetting = { type: 'integer', minimum: 1, maximum: MAX_VALUE_BYTES } as const

/**
 * Settings of the key-value service. Durations are in milliseconds, sizes in bytes unless the name states another unit.
 */
export const settings = defineSettings({
  store: { type: 'string', enum: getPartNames('store'), default: 'level', description: 'store of the values' },
  commit: {
    type: 'string',
    enum: getPartNames('commit'),
    default: 'group',
    description: 'commit of writes to LevelDB: grouped per turn, or single',
  },
  cacheMegabytes: {
    type: 'integer',
    default: 128,
    minimum: 1,
    maximum: 4_095,
    description: 'block cache of LevelDB (MiB)',
  },
  valueLimit: { ...bytesSetting, default: 16_777_216, description: 'maximum value (bytes)' },
  batchLimit: { ...bytesSetting, default: 33_554_432, description: 'maximum body of a batch (bytes)' },
  batchLines: {
    type: 'integer',
    default: 100_000,
    minimum: 1,
    maximum: 10_000_000,
    description: 'maximum lines of a batch',
  },
  queueBytes: { ...bytesSetting, default: 67_108_864, description: 'maximum queued write bytes per thread (bytes)' },
  queueWrites: {
    type: 'integer',
    default: 10_000,
    minimum: 1,
    maximum: 10_000_000,
    description: 'maximum queued writes per thread',
  },
  queueTimeout: {
    type: 'integer',
    default: 2_000,
    minimum: 1,
    maximum: 600_000,
    description: 'timeout of a write that waits for the queue (ms)',
  },
  maxWatchers: {
    type: 'integer',
    default: 10_000,
    minimum: 1,
    maximum: 10_000_000,
    description: 'maximum watch streams per thread',
  },
  watchHistory: {
    ...bytesSetting,
    default: 16_777_216,
    description: 'memory of changes for watch streams that resume (bytes)',
  },
  watchBuffer: {
    ...bytesSetting,
    default: 8_388_608,
    description: 'maximum unread bytes of a watch stream (bytes)',
  },
  watchHeartbeat: {
    type: 'integer',
    default: 15_000,
    minimum: 10,
    maximum: 3_600_000,
    description: 'interval of heartbeats on watch streams (ms)',
  },
  ...logSettings,
})

/** Values of these settings. */
export type KvConfig = SettingValues<typeof settings>

/** Context of `open`, in both modes. */
export type KvContext = OpenContext<KvConfig, KvThreadMessage>
