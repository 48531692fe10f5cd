import type { Point } from '../core/history.ts'
import type { Snapshot } from '../core/numbers.ts'
import type { Usage } from '../core/pace.ts'
import type { Collection, State } from './state.ts'

/** Hash tables in memory; forgotten when the process ends. */
export function createMapState(): State {
  const collections = new Map<string, Collection>()
  const snapshots = new Map<string, Snapshot>()
  const histories = new Map<string, Point[]>()
  /** In order; made when it is asked for, until a collection comes or goes. */
  let ids: string[] | undefined
  let usage: Usage | undefined

  return {
    get: (id) => collections.get(id),
    list(after, limit) {
      ids ??= [...collections.keys()].sort()
      const first = firstAfter(ids, after)
      return ids.slice(first, first + limit).map((id) => collections.get(id)!)
    },
    snapshot: (id) => snapshots.get(id),
    snapshots: (ids) => ids.map((id) => snapshots.get(id)),
    history: (id, from, to) => (histories.get(id) ?? []).filter(({ at }) => at >= from && at <= to),
    put(collection) {
      if (!collections.has(collection.id)) ids = undefined
      collections.set(collection.id, collection)
    },
    delete(id) {
      if (collections.delete(id)) ids = undefined
      snapshots.delete(id)
      histories.delete(id)
    },
    putSnapshot(id, snapshot, point) {
      snapshots.set(id, snapshot)
      if (point) histories.set(id, [...(histories.get(id) ?? []), point])
    },
    deletePoints(id, times) {
      const gone = new Set(times)
      histories.set(
        id,
        (histories.get(id) ?? []).filter(({ at }) => !gone.has(at)),
      )
    },
    usage: () => usage,
    putUsage(next) {
      usage = next
    },
    async close() {},
  }
}

/** The index of the first of sorted `ids` that comes after `id`. */
function firstAfter(ids: readonly string[], id: string): number {
  let [low, high] = [0, ids.length]
  while (low < high) {
    const middle = (low + high) >>> 1
    if (ids[middle]! > id) high = middle
    else low = middle + 1
  }
  return low
}
