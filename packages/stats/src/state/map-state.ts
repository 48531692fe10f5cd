import { withPoint, type Point } from '../core/history-points.ts'
import type { Snapshot } from '../core/video-numbers.ts'
import type { QuotaUsage } from '../core/quota-budget.ts'
import type { VideoDetails } from '../core/video-details.ts'
import { createMemoryRecords } from './memory/memory-records.ts'
import { toHistoryId, type Collection, type StatsState } from './stats-state.ts'

/** Hash tables in memory, lost when the process ends. */
export function createMapState(): StatsState {
  const collections = new Map<string, Collection>()
  const snapshots = new Map<string, Snapshot>()
  const videos = new Map<string, VideoDetails>()
  const histories = new Map<string, Point[]>()
  /** Sorted ids; built on demand and valid until a collection is added or removed. */
  let ids: string[] | undefined
  let videoIds: string[] | undefined
  const { deleteCollection, ...records } = createMemoryRecords((id) => collections.has(id))
  let usage: QuotaUsage | undefined

  function add(collection: Collection): void {
    if (!collections.has(collection.id)) ids = undefined
    collections.set(collection.id, collection)
  }

  function remove(id: string): void {
    if (collections.delete(id)) ids = undefined
  }

  function deleteAll(id: string): void {
    remove(id)
    snapshots.delete(id)
    histories.delete(id)
    deleteCollection(id)
  }

  return {
    get: (id) => collections.get(id),
    list(after, limit) {
      ids ??= [...collections.keys()].sort()
      const first = findFirstIndex(ids, (id) => id > after)
      return ids.slice(first, first + limit).map((id) => collections.get(id)!)
    },
    getSnapshot: (id) => snapshots.get(id),
    getSnapshots: (ids) => ids.map((id) => snapshots.get(id)),
    getHistory(id, from, to, limit) {
      const points = histories.get(id) ?? []
      const first = findFirstIndex(points, ({ at }) => at >= from)
      const end = findFirstIndex(points, ({ at }) => at > to)
      return points.slice(first, Math.min(first + limit, end))
    },
    getPointAt(id, at) {
      const points = histories.get(id) ?? []
      return points[findFirstIndex(points, (point) => point.at > at) - 1]
    },
    put(collection) {
      if (!collections.has(collection.id)) deleteAll(collection.id)
      add(collection)
    },
    delete: deleteAll,
    trash(trashed) {
      remove(trashed.id)
      records.putRecords([{ kind: 'trash', key: trashed.id, value: trashed }])
    },
    restore(collection) {
      records.putRecords([{ kind: 'trash', key: collection.id }])
      add(collection)
    },
    ...records,
    putSnapshots(rows) {
      for (const { id, snapshot, point } of rows) {
        snapshots.set(id, snapshot)
        if (point) histories.set(id, withPoint(histories.get(id) ?? [], point))
      }
    },
    deletePoints(id, times) {
      const deleted = new Set(times)
      const remaining = (histories.get(id) ?? []).filter(({ at }) => !deleted.has(at))
      if (remaining.length > 0) histories.set(id, remaining)
      else histories.delete(id)
    },
    getVideos: (requested) => requested.map((id) => videos.get(id)),
    putVideos(rows) {
      for (const { id, details, point } of rows) {
        if (details && !videos.has(id)) videoIds = undefined
        if (details) videos.set(id, details)
        const name = toHistoryId(id)
        if (point) histories.set(name, withPoint(histories.get(name) ?? [], point))
      }
    },
    listVideos(after, limit) {
      videoIds ??= [...videos.keys()].sort()
      const first = findFirstIndex(videoIds, (id) => id > after)
      return videoIds.slice(first, first + limit).map((id) => videos.get(id)!)
    },
    deleteVideos(deleted) {
      for (const id of deleted) videos.delete(id)
      videoIds = undefined
    },
    getUsage: () => usage,
    putUsage(next) {
      usage = next
    },
    async close() {},
  }
}

/**
 * Returns the index of the first item for which `isPast` is true, or the number of items. `isPast` must be true for all
 * items after that one.
 */
function findFirstIndex<T>(items: readonly T[], isPast: (item: T) => boolean): number {
  let [low, high] = [0, items.length]
  while (low < high) {
    const middle = (low + high) >>> 1
    if (isPast(items[middle]!)) high = middle
    else low = middle + 1
  }
  return low
}
