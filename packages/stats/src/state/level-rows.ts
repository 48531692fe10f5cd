import type { SharedLevel } from '@influencer-stats/runtime/shared-level'
import { setImmediate as nextTurn } from 'node:timers/promises'
import { historyOf, type Collection, type SnapshotRow, type VideoRow } from './state.ts'

// c!<id> a collection, s!<id> its last numbers, h!<id>!<time> a point of its history, h!:<id>!<time> one of a video's,
// v!<id> what is known of a video besides, usage the quota used; in the base of a node of many, log how far it is.
// An id has no "!", and "~" sorts after every character of a time.
export const collectionKey = (id: string) => `c!${id}`
export const snapshotKey = (id: string) => `s!${id}`
export const videoKey = (id: string) => `v!${id}`
export const pointKey = (id: string, at: number) => `h!${id}!${String(at).padStart(16, '0')}`
export const USAGE = 'usage'

/** The keys of a history. */
export const historyRange = (id: string) => ({ gt: `h!${id}!`, lt: `h!${id}!~` })

/** One change of a base. */
export type Row =
  | { readonly type: 'put'; readonly key: string; readonly value: string }
  | { readonly type: 'del'; readonly key: string }

const put = (key: string, value: unknown): Row => ({ type: 'put', key, value: JSON.stringify(value) })
const del = (key: string): Row => ({ type: 'del', key })

/** What is written where something changes. */
export const rowsOf = {
  collection: (collection: Collection) => [put(collectionKey(collection.id), collection)],
  /** All of a collection, but for its history. */
  noCollection: (id: string) => [del(collectionKey(id)), del(snapshotKey(id))],
  snapshots: (rows: readonly SnapshotRow[]) =>
    rows.flatMap(({ id, snapshot, point }) => [
      put(snapshotKey(id), snapshot),
      ...(point ? [put(pointKey(id, point.at), point)] : []),
    ]),
  videos: (rows: readonly VideoRow[]) =>
    rows.flatMap(({ id, details, point }) => [
      ...(details ? [put(videoKey(id), details)] : []),
      ...(point ? [put(pointKey(historyOf(id), point.at), point)] : []),
    ]),
  noVideos: (ids: readonly string[]) => ids.map((id) => del(videoKey(id))),
  noPoints: (id: string, times: readonly number[]) => times.map((at) => del(pointKey(id, at))),
  usage: (usage: object) => [put(USAGE, usage)],
}

/** So many rows go into a batch before others have their turn: a millisecond or two. */
const SLICE = 1_000

/** Writes all or none. @param options of LevelDB */
export async function writeRows(db: SharedLevel['db'], rows: readonly Row[], options = {}): Promise<void> {
  const [first] = rows
  // A fourth less than as a batch.
  if (rows.length === 1 && first?.type === 'put') return db.put(first.key, first.value, options)
  const batch = db.batch()
  for (const [i, row] of rows.entries()) {
    if (i % SLICE === SLICE - 1) await nextTurn()
    if (row.type === 'put') batch.put(row.key, row.value)
    else batch.del(row.key)
  }
  await batch.write(options)
}
