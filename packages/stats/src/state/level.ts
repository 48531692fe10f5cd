import { openSharedLevel } from '@influencer-stats/runtime/shared-level'
import { historyOf, type State, type StateOptions } from './state.ts'

// c!<id> a collection, s!<id> its last numbers, h!<id>!<time> a point of its history, h!:<id>!<time> one of a video's,
// v!<id> what is known of a video besides, usage the quota used.
// An id has no "!", and "~" sorts after every character of a time.
const collectionKey = (id: string) => `c!${id}`
const snapshotKey = (id: string) => `s!${id}`
const videoKey = (id: string) => `v!${id}`
const pointKey = (id: string, at: number) => `h!${id}!${String(at).padStart(16, '0')}`
const USAGE = 'usage'

const parse = (text: string | undefined) => (text === undefined ? undefined : JSON.parse(text))

/** Data written by a later version of this file are refused; an older one would lose what it does not know. */
const FORMAT = 2

/** In format 1 there was less, and all of it as it is now. */
const upgrades = { 1: async () => {} }

type LevelStateOptions = Pick<StateOptions, 'folder' | 'share' | 'log'>

/**
 * LevelDB in `folder`. One process at a time; all its threads share one handle, the first opener must close last.
 * @throws StartError `DATA_LOCKED`, `DATA_UNWRITABLE`, `DATA_NEWER`
 */
export async function createLevelState({ folder, ...part }: LevelStateOptions): Promise<State> {
  const level = await openSharedLevel(folder, { service: 'stats', format: FORMAT, upgrades, ...part })
  const { db } = level
  const values = (range: object) => db.values(range).all()

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
    put(collection) {
      const text = JSON.stringify(collection)
      return level.write(() => db.put(collectionKey(collection.id), text, { sync: true }))
    },
    async delete(id) {
      const changes = db.batch().del(collectionKey(id)).del(snapshotKey(id))
      // One after the other, so that others have their turn; all are gone at once.
      for await (const key of db.keys({ gt: `h!${id}!`, lt: `h!${id}!~` })) changes.del(key)
      await level.write(() => changes.write({ sync: true }))
    },
    putSnapshots(rows) {
      return level.write(() => {
        const changes = db.batch()
        for (const { id, snapshot, point } of rows) {
          changes.put(snapshotKey(id), JSON.stringify(snapshot))
          if (point) changes.put(pointKey(id, point.at), JSON.stringify(point))
        }
        return changes.write()
      })
    },
    videos: async (ids) => (await db.getMany(ids.map(videoKey))).map(parse),
    putVideos(rows) {
      return level.write(() => {
        const changes = db.batch()
        for (const { id, details, point } of rows) {
          if (details) changes.put(videoKey(id), JSON.stringify(details))
          if (point) changes.put(pointKey(historyOf(id), point.at), JSON.stringify(point))
        }
        return changes.write()
      })
    },
    async listVideos(after, limit) {
      const found = await values({ gt: videoKey(after), lt: 'v~', limit })
      return found.map(parse)
    },
    deleteVideos(ids) {
      return level.write(() => db.batch(ids.map((id) => ({ type: 'del' as const, key: videoKey(id) }))))
    },
    deletePoints(id, times) {
      const deletes = times.map((at) => ({ type: 'del' as const, key: pointKey(id, at) }))
      return level.write(() => db.batch(deletes))
    },
    usage: () => parse(db.getSync(USAGE)),
    putUsage: (usage) => level.write(() => db.put(USAGE, JSON.stringify(usage))),
    close: () => level.close(),
  }
}
