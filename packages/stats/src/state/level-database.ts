import { openSharedLevel, type SharedLevel, type SharedLevelOptions } from '@influencer-stats/runtime/shared-level'
import { NO_SOURCES, type Sources } from '../core/sources.ts'
import { SOURCES_KEY } from './level-keys.ts'
import { POSITION_KEY } from './level-snapshot.ts'
import { sourcesRow } from './sources-row.ts'
import type { StateOptions } from './stats-state.ts'

/** Format of the database. A later format is refused, because this version would lose the data that it does not know. */
const FORMAT_VERSION = 3

/**
 * Upgrades from these formats to the next. They change no rows: format 1 had fewer kinds of data, and format 2 might have
 * no sources.
 */
const upgrades = { 1: async () => {}, 2: async () => {} }

/** The row that every database of a cluster node has. Data without it are damaged, and are deleted. */
const replicaRow = { key: Buffer.from(POSITION_KEY), since: 1 }

export type StatsLevelOptions = Pick<StateOptions, 'folder' | 'share' | 'log'> &
  Pick<SharedLevelOptions<string, string>, 'isReplica'>

/** @throws StartError `DATA_LOCKED`, `DATA_UNWRITABLE`, `DATA_NEWER` */
export const openStatsLevel = ({ folder, ...part }: StatsLevelOptions): Promise<SharedLevel> =>
  openSharedLevel(folder, {
    service: 'stats',
    format: FORMAT_VERSION,
    upgrades,
    ownRow: part.isReplica ? replicaRow : sourcesRow,
    ...part,
  })

/** Returns the sources of the numbers in a database. */
export const readSources = (db: Pick<SharedLevel['db'], 'getSync'>): Sources => {
  const text = db.getSync(SOURCES_KEY)
  return text === undefined ? NO_SOURCES : JSON.parse(text)
}
