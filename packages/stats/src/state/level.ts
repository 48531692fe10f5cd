import { openSharedLevel, type SharedLevel, type SharedLevelOptions } from '@influencer-stats/runtime/shared-level'
import { setImmediate as nextTurn } from 'node:timers/promises'
import { currentSource, NO_SOURCES, withSource, type Sources } from '../core/sources.ts'
import { collectionKey, keysOfAll, keysOfSource, SOURCES, USAGE } from './keys.ts'
import { rowsOf, writeRows, type Row } from './level-rows.ts'
import { ownRow } from '../own-row.ts'
import { OWN_KEY } from './snapshot.ts'
import { countSetApart } from './set-apart.ts'
import type { State, StateOptions } from './state.ts'

const parse = (text: string | undefined) => (text === undefined ? undefined : JSON.parse(text))

/** Data written by a later version of this file are refused; an older one would lose what it does not know. */
const FORMAT = 3

/** In format 1 there was less, in format 2 the sources might be missing. All else was as it is now. */
const upgrades = { 1: async () => {}, 2: async () => {} }

const replicaRow = { key: Buffer.from(OWN_KEY), since: 1 }

type LevelStateOptions = Pick<StateOptions, 'folder' | 'share' | 'log'> &
  Pick<SharedLevelOptions<string, string>, 'isReplica'>

/** @throws StartError `DATA_LOCKED`, `DATA_UNWRITABLE`, `DATA_NEWER` */
export const openStatsLevel = ({ folder, ...part }: LevelStateOptions): Promise<SharedLevel> =>
  openSharedLevel(folder, {
    service: 'stats',
    format: FORMAT,
    upgrades,
    ownRow: part.isReplica ? replicaRow : ownRow,
    ...part,
  })

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
  // Read each time: a node's changes while its threads read.
  const sources = () => sourcesIn(db)
  const keys = () => keysOfSource(sources().current)

  return {
    level,
    // Synchronous: 1 us from LevelDB's cache, where the asynchronous one costs 31 us.
    get: (id) => parse(db.getSync(collectionKey(id))),
    async list(after, limit) {
      const found = await values({ gt: collectionKey(after), lt: 'c~', limit })
      return found.map(parse)
    },
    snapshot: (id) => parse(db.getSync(keys().snapshot(id))),
    snapshots: async (ids) => (await db.getMany(ids.map(keys().snapshot))).map(parse),
    async history(id, from, to, limit) {
      const { point } = keys()
      const found = await values({ gte: point(id, from), lte: point(id, to), limit })
      return found.map(parse)
    },
    async pointAt(id, at) {
      const { point } = keys()
      const range = { gte: point(id, 0), lte: point(id, at) }
      return parse((await values({ ...range, reverse: true, limit: 1 }))[0])
    },
    put: (collection) => write(rowsOf.collection(collection), { sync: true }),
    async delete(id) {
      const all = sources()
      const rows = rowsOf.noCollection(id, all)
      // One after the other, so that others have their turn; all are gone at once.
      for (const { history } of keysOfAll(all))
        for await (const key of db.keys(history(id))) rows.push({ type: 'del', key })
      await write(rows, { sync: true })
    },
    putSnapshots: (rows) => write(rowsOf.snapshots(rows, keys())),
    videos: async (ids) => (await db.getMany(ids.map(keys().video))).map(parse),
    putVideos: (rows) => write(rowsOf.videos(rows, keys())),
    async listVideos(after, limit) {
      const found = await values({ ...keys().videosAfter(after), limit })
      return found.map(parse)
    },
    deleteVideos: (ids) => write(rowsOf.noVideos(ids, keys())),
    deletePoints: (id, times) => write(rowsOf.noPoints(id, times, keys())),
    usage: () => parse(db.getSync(USAGE)),
    putUsage: (usage) => write(rowsOf.usage(usage)),
    source: () => currentSource(sources()),
    async useSource(name) {
      const before = sources()
      if (currentSource(before) !== name) await write(rowsOf.sources(withSource(before, name)), { sync: true })
    },
    setApart: () =>
      countSetApart(sources(), async (range) => {
        let count = 0
        const found = db.keys({ ...range, fillCache: false })
        try {
          for (let some; (some = await found.nextv(COUNTED)).length > 0; await nextTurn()) count += some.length
        } finally {
          await found.close()
        }
        return count
      }),
    close: () => level.close(),
  }
}

/** Keys that are counted in one go: a millisecond. */
const COUNTED = 1_000

/** The sources that a base has numbers of. */
export const sourcesIn = (db: Pick<SharedLevel['db'], 'getSync'>): Sources => parse(db.getSync(SOURCES)) ?? NO_SOURCES
