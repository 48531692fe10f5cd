import { withPoint, type Point } from '../core/history-points.ts'
import type { Snapshot } from '../core/video-numbers.ts'
import type { QuotaUsage } from '../core/quota-budget.ts'
import type { VideoDetails } from '../core/video-details.ts'
import { createMemoryRecords } from './memory/memory-records.ts'
import { toHistoryId, type Collection, type StatsState } from './stats-state.ts'

/** A collection, or a video with its history. */
interface ListRow {
  /** Id of the collection, or of the video's history (`toHistoryId`). */
  readonly id: string
  collection?: Collection
  snapshot?: Snapshot
  /** Details, if the row is a video. */
  details?: VideoDetails
  history: Point[]
}

/** One list in memory, searched from its start: the naive state, for comparison. */
export function createListState(): StatsState {
  let rows: ListRow[] = []
  let usage: QuotaUsage | undefined
  const find = (id: string) => rows.find((row) => row.id === id)
  const { deleteCollection, ...records } = createMemoryRecords((id) => find(id)?.collection !== undefined)

  function deleteAll(id: string): void {
    rows = rows.filter((row) => row.id !== id)
    deleteCollection(id)
  }

  return {
    get: (id) => find(id)?.collection,
    list(after, limit) {
      const collections = rows.flatMap((row) => row.collection ?? []).filter(({ id }) => id > after)
      return collections.sort((a, b) => (a.id < b.id ? -1 : 1)).slice(0, limit)
    },
    getSnapshot: (id) => find(id)?.snapshot,
    getSnapshots: (ids) => ids.map((id) => find(id)?.snapshot),
    getHistory(id, from, to, limit) {
      const points = find(id)?.history ?? []
      return points.filter(({ at }) => at >= from && at <= to).slice(0, limit)
    },
    getPointAt: (id, at) => find(id)?.history.findLast((point) => point.at <= at),
    put(collection) {
      const row = find(collection.id)
      if (row?.collection) row.collection = collection
      else {
        deleteAll(collection.id)
        rows.push({ id: collection.id, collection, history: [] })
      }
    },
    delete: deleteAll,
    trash(trashed) {
      delete find(trashed.id)?.collection
      records.putRecords([{ kind: 'trash', key: trashed.id, value: trashed }])
    },
    restore(collection) {
      records.putRecords([{ kind: 'trash', key: collection.id }])
      const row = find(collection.id)
      if (row) row.collection = collection
    },
    ...records,
    putSnapshots(updates) {
      for (const { id, snapshot, point } of updates) {
        const row = find(id)
        if (!row) continue
        row.snapshot = snapshot
        if (point) row.history = withPoint(row.history, point)
      }
    },
    deletePoints(id, times) {
      const row = find(id)
      if (row) row.history = row.history.filter(({ at }) => !times.includes(at))
    },
    getVideos: (ids) => ids.map((id) => find(toHistoryId(id))?.details),
    putVideos(updates) {
      for (const { id, details, point } of updates) {
        const name = toHistoryId(id)
        let row = find(name)
        if (!row) rows.push((row = { id: name, history: [] }))
        if (details) row.details = details
        if (point) row.history = withPoint(row.history, point)
      }
    },
    listVideos(after, limit) {
      const all = rows.flatMap((row) => row.details ?? []).filter(({ id }) => id > after)
      return all.sort((a, b) => (a.id < b.id ? -1 : 1)).slice(0, limit)
    },
    deleteVideos(ids) {
      for (const id of ids) delete find(toHistoryId(id))?.details
    },
    getUsage: () => usage,
    putUsage(next) {
      usage = next
    },
    async close() {},
  }
}
