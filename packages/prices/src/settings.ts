import { logSettings } from '@influencer-stats/log/settings'
import { defineSettings, type SettingValues } from '@influencer-stats/runtime/define-settings'
import { commonSettings } from '@influencer-stats/runtime/settings'
import { BITMAP_ALIAS, BITMAP_INDEXES, listPartNames } from './parts.ts'

/** The settings of the prices service. */
export const settings = defineSettings({
  indexes: {
    type: 'array',
    items: { type: 'string', minLength: 1 },
    default: [BITMAP_ALIAS],
    choices: [BITMAP_ALIAS, ...listPartNames('index')],
    description: `indexes to build; ${BITMAP_ALIAS} is ${BITMAP_INDEXES.join(', or without it ')}`,
  },
  catalog: {
    type: 'string',
    enum: listPartNames('catalog'),
    default: 'memory',
    description: 'store of the ids and values in search replies',
  },
  sample: {
    type: 'string',
    enum: ['yes', 'no'],
    default: 'yes',
    description: 'sample catalog in an empty data folder',
  },
  cacheBytes: {
    type: 'integer',
    default: 2_097_152,
    minimum: 16_384,
    maximum: 4_294_967_296,
    description: 'page cache of the lru-level catalog, per thread (bytes)',
  },
  maxPrices: {
    type: 'integer',
    default: 5_000_000,
    minimum: 1,
    maximum: 100_000_000,
    description: 'maximum prices',
  },
  importLimit: {
    type: 'integer',
    default: 8_589_934_592,
    minimum: 1,
    maximum: Number.MAX_SAFE_INTEGER,
    description: 'maximum import (bytes)',
  },
  ...logSettings,
  // An import of millions of prices takes minutes to arrive, and a bulk request lasts until its answers are read.
  requestTimeout: { ...commonSettings.requestTimeout, default: 600_000 },
})

/** The values of the settings. */
export type PricesConfig = SettingValues<typeof settings>

/**
 * Timeout of a call about the catalog (ms). Any call may have to wait for an import that rebuilds the catalog. An
 * import of two million prices takes 40 s on two processors without other work.
 */
export const CATALOG_TIMEOUT_MS = 600_000
