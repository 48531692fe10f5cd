import { openSharedLevel, type SharedLevel, type SharedLevelOptions } from '@influencer-stats/runtime/shared-level'
import { setImmediate as nextTurn } from 'node:timers/promises'
import { getCurrentSource, NO_SOURCES, withSource, type Sources } from '../core/sources.ts'
import { toCollectionKey, getAllKeys, getSourceKeys, SOURCES_KEY, USAGE_KEY } from './level-keys.ts'
import { buildRows, writeRows, type LevelRow } from './level-rows.ts'
import { sourcesRow } from './sources-row.ts'
import { POSITION_KEY } from './level-snapshot.ts'
import { countSourceRows } from './count-other-sources.ts'
import type { StatsState, StateOptions } from './stats-state.ts'

const parse = (text: string | undefined) => (text === undefined ? undefined : JSON.parse(text))

/** Format of the database. A later format is refused, because this version would lose the data that it does not know. */
const FORMAT_VERSION = 3

/**
 * Upgrades from these formats to the next. They change no rows: format 1 had fewer kinds of data, and format 2 might have
 * no sources.
 */
const upgrades = { 1: async () => {}, 2: async () => {} }

/** The row that every database of a cluster node has. Data without it are damaged, and are deleted. */
const replicaRow = { key: Buffer.from(POSITION_KEY), since: 1 }

type LevelStateOptions = Pick<StateOptions, 'folder' | 'share' | 'log'> &
  Pick<SharedLevelOptions<string, string>, 'isReplica'>

/** @throws StartError `DATA_LOCKED`, `DATA_UNWRITABLE`, `DATA_NEWER` */
export const openStatsLevel = ({ folder, ...part }: LevelStateOptions): Promise<SharedLevel> =>
  openSharedLevel(folder, {
    service: 'stats',
    format: FORMAT_VERSION,
    upgrades,
    ownRow: part.isReplica ? replicaRow : sourcesRow,
    ...part,
  })

/**
 * State in a LevelDB database in `folder`. One process at a time may open it. All its threads share one handle, and the
 * thread that opens first must close last.
 * @throws StartError `DATA_LOCKED`, `DATA_UNWRITABLE`, `DATA_NEWER`
 */
export const createLevelState = async (options: LevelStateOptions): Promise<StatsState> =>
  toLevelState(await openStatsLevel(options))

/** Returns a state that uses an open database. */
export function toLevelState(level: SharedLevel): StatsState {
  const { db } = level
  const values = (range: object) => db.values(range).all()
  const write = (rows: LevelRow[], options = {}) => level.write(() => writeRows(db, rows, options))
  // Read on each use: the sources of a node change while its threads read.
  const sources = () => readSources(db)
  const keys = () => getSourceKeys(sources().current)

  return {
    level,
    // Synchronous: 1 us from LevelDB's cache; the asynchronous read takes 31 us.
    get: (id) => parse(db.getSync(toCollectionKey(id))),
    async list(after, limit) {
      const found = await values({ gt: toCollectionKey(after), lt: 'c~', limit })
      return found.map(parse)
    },
    getSnapshot: (id) => parse(db.getSync(keys().snapshot(id))),
    getSnapshots: async (ids) => (await db.getMany(ids.map(keys().snapshot))).map(parse),
    async getHistory(id, from, to, limit) {
      const { point } = keys()
      const found = await values({ gte: point(id, from), lte: point(id, to), limit })
      return found.map(parse)
    },
    async getPointAt(id, at) {
      const { point } = keys()
      const range = { gte: point(id, 0), lte: point(id, at) }
      return parse((await values({ ...range, reverse: true, limit: 1 }))[0])
    },
    put: (collection) => write(buildRows.collection(collection), { sync: true }),
    async delete(id) {
      const all = sources()
      const rows = buildRows.collectionDeletion(id, all)
      // Read one by one, so that other work runs between; all are deleted in one write.
      for (const { history } of getAllKeys(all))
        for await (const key of db.keys(history(id))) rows.push({ type: 'del', key })
      await write(rows, { sync: true })
    },
    putSnapshots: (rows) => write(buildRows.snapshots(rows, keys())),
    getVideos: async (ids) => (await db.getMany(ids.map(keys().video))).map(parse),
    putVideos: (rows) => write(buildRows.videos(rows, keys())),
    async listVideos(after, limit) {
      const found = await values({ ...keys().videosAfter(after), limit })
      return found.map(parse)
    },
    deleteVideos: (ids) => write(buildRows.videoDeletions(ids, keys())),
    deletePoints: (id, times) => write(buildRows.pointDeletions(id, times, keys())),
    getUsage: () => parse(db.getSync(USAGE_KEY)),
    putUsage: (usage) => write(buildRows.usage(usage)),
    getSource: () => getCurrentSource(sources()),
    async useSource(name) {
      const before = sources()
      if (getCurrentSource(before) !== name) await write(buildRows.sources(withSource(before, name)), { sync: true })
    },
    countOtherSources: () =>
      countSourceRows(sources(), async (range) => {
        let count = 0
        const found = db.keys({ ...range, fillCache: false })
        try {
          for (let some; (some = await found.nextv(COUNT_BATCH_SIZE)).length > 0; await nextTurn()) count += some.length
        } finally {
          await found.close()
        }
        return count
      }),
    close: () => level.close(),
  }
}

/** Number of keys counted at once: about a millisecond of work. */
const COUNT_BATCH_SIZE = 1_000

/** Returns the sources of the numbers in a database. */
export const readSources = (db: Pick<SharedLevel['db'], 'getSync'>): Sources =>
  parse(db.getSync(SOURCES_KEY)) ?? NO_SOURCES
