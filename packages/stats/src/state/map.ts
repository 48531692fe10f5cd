import type { Point } from '../core/history.ts'
import type { Snapshot } from '../core/numbers.ts'
import type { Usage } from '../core/pace.ts'
import type { Collection, State } from './state.ts'

/** Hash tables in memory; forgotten when the process ends. */
export function createMapState(): State {
  const collections = new Map<string, Collection>()
  const snapshots = new Map<string, Snapshot>()
  const histories = new Map<string, Point[]>()
  let usage: Usage | undefined

  return {
    get: (id) => collections.get(id),
    list(after, limit) {
      const ids = [...collections.keys()].filter((id) => id > after).sort()
      return ids.slice(0, limit).map((id) => collections.get(id)!)
    },
    snapshot: (id) => snapshots.get(id),
    history: (id, from, to) => (histories.get(id) ?? []).filter(({ at }) => at >= from && at <= to),
    put(collection) {
      collections.set(collection.id, collection)
    },
    delete(id) {
      collections.delete(id)
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
