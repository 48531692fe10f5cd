import { withPoint, type Point } from '../core/history.ts'
import type { Snapshot } from '../core/numbers.ts'
import type { Usage } from '../core/pace.ts'
import type { VideoDetails } from '../core/video-details.ts'
import { historyOf, type Collection, type State } from './state.ts'

/** Hash tables in memory; forgotten when the process ends. */
export function createMapState(): State {
  const collections = new Map<string, Collection>()
  const snapshots = new Map<string, Snapshot>()
  const videos = new Map<string, VideoDetails>()
  const histories = new Map<string, Point[]>()
  /** In order; made when it is asked for, until a collection comes or goes. */
  let ids: string[] | undefined
  let videoIds: string[] | undefined
  let usage: Usage | undefined

  return {
    get: (id) => collections.get(id),
    list(after, limit) {
      ids ??= [...collections.keys()].sort()
      const first = firstIndex(ids, (id) => id > after)
      return ids.slice(first, first + limit).map((id) => collections.get(id)!)
    },
    snapshot: (id) => snapshots.get(id),
    snapshots: (ids) => ids.map((id) => snapshots.get(id)),
    history(id, from, to, limit) {
      const points = histories.get(id) ?? []
      const first = firstIndex(points, ({ at }) => at >= from)
      const end = firstIndex(points, ({ at }) => at > to)
      return points.slice(first, Math.min(first + limit, end))
    },
    pointAt(id, at) {
      const points = histories.get(id) ?? []
      return points[firstIndex(points, (point) => point.at > at) - 1]
    },
    put(collection) {
      if (!collections.has(collection.id)) ids = undefined
      collections.set(collection.id, collection)
    },
    delete(id) {
      if (collections.delete(id)) ids = undefined
      snapshots.delete(id)
      histories.delete(id)
    },
    putSnapshots(rows) {
      for (const { id, snapshot, point } of rows) {
        snapshots.set(id, snapshot)
        if (point) histories.set(id, withPoint(histories.get(id) ?? [], point))
      }
    },
    deletePoints(id, times) {
      const gone = new Set(times)
      const left = (histories.get(id) ?? []).filter(({ at }) => !gone.has(at))
      if (left.length > 0) histories.set(id, left)
      else histories.delete(id)
    },
    videos: (wanted) => wanted.map((id) => videos.get(id)),
    putVideos(rows) {
      for (const { id, details, point } of rows) {
        if (details && !videos.has(id)) videoIds = undefined
        if (details) videos.set(id, details)
        const name = historyOf(id)
        if (point) histories.set(name, withPoint(histories.get(name) ?? [], point))
      }
    },
    listVideos(after, limit) {
      videoIds ??= [...videos.keys()].sort()
      const first = firstIndex(videoIds, (id) => id > after)
      return videoIds.slice(first, first + limit).map((id) => videos.get(id)!)
    },
    deleteVideos(gone) {
      for (const id of gone) videos.delete(id)
      videoIds = undefined
    },
    usage: () => usage,
    putUsage(next) {
      usage = next
    },
    async close() {},
  }
}

/** The index of the first item that `isPast`; all after it are past, too. */
function firstIndex<T>(items: readonly T[], isPast: (item: T) => boolean): number {
  let [low, high] = [0, items.length]
  while (low < high) {
    const middle = (low + high) >>> 1
    if (isPast(items[middle]!)) high = middle
    else low = middle + 1
  }
  return low
}
