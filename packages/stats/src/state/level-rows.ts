import type { SharedLevel } from '@influencer-stats/runtime/shared-level'
import { yieldTurn } from '@influencer-stats/runtime/async/yield'
import type { RecordChange } from '../core/record-kinds.ts'
import type { Point } from '../core/history-points.ts'
import type { Sources } from '../core/sources.ts'
import { toCollectionKey, getAllKeys, getRecordKeys, SOURCES_KEY, USAGE_KEY, type SourceKeys } from './level-keys.ts'
import { toHistoryId, type Collection, type SnapshotRow, type VideoRow } from './stats-state.ts'

/** One change of a database. */
export type LevelRow =
  | { readonly type: 'put'; readonly key: string; readonly value: string }
  | { readonly type: 'del'; readonly key: string }

const put = (key: string, value: unknown): LevelRow => ({ type: 'put', key, value: JSON.stringify(value) })
const del = (key: string): LevelRow => ({ type: 'del', key })

/** Builds the rows that each kind of change writes. */
export const buildRows = {
  collection: (collection: Collection) => [put(toCollectionKey(collection.id), collection)],
  /** Deletes a collection and its numbers of every source, but not its histories. */
  collectionDeletion: (id: string, sources: Sources) => [
    del(toCollectionKey(id)),
    ...getAllKeys(sources).map((keys) => del(keys.snapshot(id))),
  ],
  snapshots: (rows: readonly SnapshotRow[], keys: SourceKeys) =>
    rows.flatMap(({ id, snapshot, point }) => [
      put(keys.snapshot(id), snapshot),
      ...(point ? [put(keys.point(id, point.at), point)] : []),
    ]),
  videos: (rows: readonly VideoRow[], keys: SourceKeys) =>
    rows.flatMap(({ id, details, point }) => [
      ...(details ? [put(keys.video(id), details)] : []),
      ...(point ? [put(keys.point(toHistoryId(id), point.at), point)] : []),
    ]),
  point: (historyId: string, point: Point, keys: SourceKeys) => [put(keys.point(historyId, point.at), point)],
  videoDeletions: (ids: readonly string[], keys: SourceKeys) => ids.map((id) => del(keys.video(id))),
  pointDeletions: (id: string, times: readonly number[], keys: SourceKeys) =>
    times.map((at) => del(keys.point(id, at))),
  records: (changes: readonly RecordChange[], keys: SourceKeys) =>
    changes.map(({ kind, key, value }) => {
      const rowKey = getRecordKeys(kind, keys).record(kind, key)
      return value === undefined ? del(rowKey) : put(rowKey, value)
    }),
  sources: (sources: Sources) => [put(SOURCES_KEY, sources)],
  usage: (usage: object) => [put(USAGE_KEY, usage)],
}

/** Number of rows added to a batch before `yieldTurn`: about 0.5 ms. */
const SLICE_ROWS = 250

/**
 * Writes all rows or none.
 * @param options of the write, for LevelDB
 */
export async function writeRows(db: SharedLevel['db'], rows: readonly LevelRow[], options = {}): Promise<void> {
  const [first] = rows
  // A single put takes a fourth less time than a batch of one row.
  if (rows.length === 1 && first?.type === 'put') return db.put(first.key, first.value, options)
  const batch = db.batch()
  for (const [i, row] of rows.entries()) {
    if (i % SLICE_ROWS === SLICE_ROWS - 1) await yieldTurn()
    if (row.type === 'put') batch.put(row.key, row.value)
    else batch.del(row.key)
  }
  await batch.write(options)
}
