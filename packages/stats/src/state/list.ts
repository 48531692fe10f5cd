import { withPoint, type Point } from '../core/history.ts'
import type { Snapshot } from '../core/numbers.ts'
import type { Usage } from '../core/pace.ts'
import type { VideoDetails } from '../core/video-details.ts'
import { historyOf, type Collection, type State } from './state.ts'

interface Row {
  readonly id: string
  collection?: Collection
  snapshot?: Snapshot
  /** Of a video. */
  details?: VideoDetails
  history: Point[]
}

/** One list in memory, searched from its start: the naive state, and what it costs. */
export function createListState(): State {
  let rows: Row[] = []
  let usage: Usage | undefined
  const find = (id: string) => rows.find((row) => row.id === id)

  return {
    get: (id) => find(id)?.collection,
    list(after, limit) {
      const collections = rows.flatMap((row) => row.collection ?? []).filter(({ id }) => id > after)
      return collections.sort((a, b) => (a.id < b.id ? -1 : 1)).slice(0, limit)
    },
    snapshot: (id) => find(id)?.snapshot,
    snapshots: (ids) => ids.map((id) => find(id)?.snapshot),
    history(id, from, to, limit) {
      const points = find(id)?.history ?? []
      return points.filter(({ at }) => at >= from && at <= to).slice(0, limit)
    },
    pointAt: (id, at) => find(id)?.history.findLast((point) => point.at <= at),
    put(collection) {
      const row = find(collection.id)
      if (row) row.collection = collection
      else rows.push({ id: collection.id, collection, history: [] })
    },
    delete(id) {
      rows = rows.filter((row) => row.id !== id)
    },
    putSnapshots(news) {
      for (const { id, snapshot, point } of news) {
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
    videos: (ids) => ids.map((id) => find(historyOf(id))?.details),
    putVideos(news) {
      for (const { id, details, point } of news) {
        const name = historyOf(id)
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
      for (const id of ids) delete find(historyOf(id))?.details
    },
    usage: () => usage,
    putUsage(next) {
      usage = next
    },
    async close() {},
  }
}
