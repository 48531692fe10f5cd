import type { SharedLevel } from '@influencer-stats/runtime/shared-level'
import { yieldTurn } from '@influencer-stats/runtime/async/yield'
import { getCurrentSource } from '../core/sources.ts'
import { countSourceRows } from './other-sources.ts'
import { readSources } from './level-database.ts'
import { getRecordKeys, getSourceKeys, toCollectionKey, USAGE_KEY } from './level-keys.ts'
import type { StatsState } from './stats-state.ts'

const parse = (text: string | undefined) => (text === undefined ? undefined : JSON.parse(text))

/** Creates the reads of a state in an open database. */
export function createLevelReads(level: SharedLevel) {
  const { db } = level
  const values = (range: object) => db.values(range).all()
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
    getVideos: async (ids) => (await db.getMany(ids.map(keys().video))).map(parse),
    async listVideos(after, limit) {
      const found = await values({ ...keys().videosAfter(after), limit })
      return found.map(parse)
    },
    async getRecords(kind, all) {
      const recordKeys = getRecordKeys(kind, keys())
      return (await db.getMany(all.map((key) => recordKeys.record(kind, key)))).map(parse)
    },
    async listRecords(kind, { limit, ...range }) {
      const recordKeys = getRecordKeys(kind, keys())
      const found = await db.iterator({ ...recordKeys.records(kind, range), limit }).all()
      const start = recordKeys.record(kind, '').length
      return found.map(([key, value]) => ({ kind, key: key.slice(start), value: parse(value) }))
    },
    getUsage: () => parse(db.getSync(USAGE_KEY)),
    getSource: () => getCurrentSource(sources()),
    countOtherSources: () =>
      countSourceRows(sources(), async (range) => {
        let count = 0
        const found = db.keys({ ...range, fillCache: false })
        try {
          for (let some; (some = await found.nextv(COUNT_BATCH_SIZE)).length > 0; await yieldTurn())
            count += some.length
        } finally {
          await found.close()
        }
        return count
      }),
  } satisfies Partial<StatsState>
}

/** Number of keys counted at once: about a millisecond of work. */
const COUNT_BATCH_SIZE = 1_000
