import { openSharedLevel, type SharedLevel, type SharedLevelOptions } from '@influencer-stats/runtime/shared-level'
import {
  collectionKey,
  historyRange,
  pointKey,
  rowsOf,
  snapshotKey,
  USAGE,
  videoKey,
  writeRows,
  type Row,
} from './level-rows.ts'
import type { State, StateOptions } from './state.ts'

const parse = (text: string | undefined) => (text === undefined ? undefined : JSON.parse(text))

/** Data written by a later version of this file are refused; an older one would lose what it does not know. */
const FORMAT = 2

/** In format 1 there was less, and all of it as it is now. */
const upgrades = { 1: async () => {} }

type LevelStateOptions = Pick<StateOptions, 'folder' | 'share' | 'log'> &
  Pick<SharedLevelOptions<string, string>, 'isReplica'>

/** @throws StartError `DATA_LOCKED`, `DATA_UNWRITABLE`, `DATA_NEWER` */
export const openStatsLevel = ({ folder, ...part }: LevelStateOptions): Promise<SharedLevel> =>
  openSharedLevel(folder, { service: 'stats', format: FORMAT, upgrades, ...part })

/**
 * LevelDB in `folder`. One process at a time; all its threads share one handle, the first opener must close last.
 * @throws StartError `DATA_LOCKED`, `DATA_UNWRITABLE`, `DATA_NEWER`
 */
export const createLevelState = async (options: LevelStateOptions): Promise<State> =>
  levelStateOf(await openStatsLevel(options))

/** The state that a base holds. */
export function levelStateOf(level: SharedLevel): State {
  const { db } = level
  const values = (range: object) => db.values(range).all()
  const write = (rows: Row[], options = {}) => level.write(() => writeRows(db, rows, options))

  return {
    level,
    // Synchronous: 1 us from LevelDB's cache, where the asynchronous one costs 31 us.
    get: (id) => parse(db.getSync(collectionKey(id))),
    async list(after, limit) {
      const found = await values({ gt: collectionKey(after), lt: 'c~', limit })
      return found.map(parse)
    },
    snapshot: (id) => parse(db.getSync(snapshotKey(id))),
    snapshots: async (ids) => (await db.getMany(ids.map(snapshotKey))).map(parse),
    async history(id, from, to, limit) {
      const found = await values({ gte: pointKey(id, Math.max(0, from)), lte: pointKey(id, Math.max(0, to)), limit })
      return found.map(parse)
    },
    async pointAt(id, at) {
      const range = { gte: pointKey(id, 0), lte: pointKey(id, Math.max(0, at)) }
      return parse((await values({ ...range, reverse: true, limit: 1 }))[0])
    },
    put: (collection) => write(rowsOf.collection(collection), { sync: true }),
    async delete(id) {
      const rows = rowsOf.noCollection(id)
      // One after the other, so that others have their turn; all are gone at once.
      for await (const key of db.keys(historyRange(id))) rows.push({ type: 'del', key })
      await write(rows, { sync: true })
    },
    putSnapshots: (rows) => write(rowsOf.snapshots(rows)),
    videos: async (ids) => (await db.getMany(ids.map(videoKey))).map(parse),
    putVideos: (rows) => write(rowsOf.videos(rows)),
    async listVideos(after, limit) {
      const found = await values({ gt: videoKey(after), lt: 'v~', limit })
      return found.map(parse)
    },
    deleteVideos: (ids) => write(rowsOf.noVideos(ids)),
    deletePoints: (id, times) => write(rowsOf.noPoints(id, times)),
    usage: () => parse(db.getSync(USAGE)),
    putUsage: (usage) => write(rowsOf.usage(usage)),
    close: () => level.close(),
  }
}
