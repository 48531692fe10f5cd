import { openSharedLevel, type SharedLevelOptions } from '@influencer-stats/runtime/shared-level'
import { ownRow } from './own-row.ts'
import { upgradeFromFormat1, upgradeFromFormat2 } from './format-upgrades.ts'

/**
 * Version of the stored format: since 2, answers are stored row by row; since 3, in pages of 32 rows; since 4, values can be
 * exact decimals, and ids any text.
 */
export const FORMAT = 4

// Small, because the indexes and (by default) the answers are in memory, and large writes are already batches.
const LEVEL_OPTIONS = { cacheSize: 1_048_576, writeBufferSize: 4_194_304 }

/** Options of the database that all threads of a process share. */
type PricesLevelOptions = Pick<SharedLevelOptions<string, string>, 'share' | 'log' | 'onRecovered' | 'isReplica'>

export const openPricesLevel = (folder: string, options: PricesLevelOptions = {}) =>
  openSharedLevel(folder, {
    ...options,
    service: 'prices',
    format: FORMAT,
    ownRow,
    // Data of format 3 is valid data of format 4.
    upgrades: { 1: upgradeFromFormat1, 2: upgradeFromFormat2, 3: async () => {} },
    ...LEVEL_OPTIONS,
  })
