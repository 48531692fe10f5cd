import { yieldTurn } from '@influencer-stats/runtime/async/yield'
import type { SharedLevel } from '@influencer-stats/runtime/shared-level'
import { NO_SOURCES, type Sources } from '../core/sources.ts'
import type { ExportLine } from '../core/export-line.ts'
import { EXPORTED_KINDS, hasSource, SOURCE_KINDS, type RecordKind } from '../core/record-kinds.ts'
import {
  getSourceKeys,
  SOURCES_KEY,
  toCollectionKey,
  USAGE_KEY,
  type SourceKeys,
  type StatsKeyRange,
} from './level-keys.ts'
import { UNKNOWN_SOURCE } from './sources-row.ts'
import type { Collection, TrashedCollection } from './stats-state.ts'

type StatsDb = SharedLevel['db']
type DbSnapshot = ReturnType<StatsDb['snapshot']>

const SLICE_ROWS = 1_000
const SLICE_BYTES = 256 * 1_024

/**
 * Yields the used quota, and all collections, histories and details that a database has when the first line is read. The lines depend only
 * on this data: sources are in the order of their names, and all else is in the order of ids and times.
 */
export async function* exportDatabase(db: StatsDb): AsyncGenerator<ExportLine> {
  const snapshot = db.snapshot()
  async function* readRecords(kind: RecordKind, keys: SourceKeys) {
    const start = keys.record(kind, '').length
    for await (const [key, value] of readRows(db, keys.records(kind), snapshot))
      yield { kind, key: key.slice(start), value: JSON.parse(value) as object }
  }
  async function* readCollections(): AsyncGenerator<Collection | TrashedCollection> {
    for await (const [, row] of readRows(db, { gt: toCollectionKey(''), lt: 'c"' }, snapshot)) yield JSON.parse(row)
    for await (const { value } of readRecords('trash', getSourceKeys(0))) yield value as TrashedCollection
  }
  try {
    const text = await db.get(SOURCES_KEY, { snapshot })
    const usage = await db.get(USAGE_KEY, { snapshot })
    if (usage !== undefined) yield { type: 'usage', usage: JSON.parse(usage) }
    const sources: Sources = text === undefined ? NO_SOURCES : JSON.parse(text)
    const names = sources.names.length > 0 ? sources.names : [UNKNOWN_SOURCE]
    const bySource = names
      .map((source, position) => ({ source, keys: getSourceKeys(position) }))
      .toSorted((a, b) => (a.source < b.source ? -1 : 1))
    for (const { source, keys } of bySource) {
      for await (const [, details] of readRows(db, keys.videosAfter(''), snapshot))
        yield { type: 'details', source, details: JSON.parse(details) }
      for await (const [key, point] of readRows(db, keys.allPoints(), snapshot))
        yield { type: 'point', source, ...toHistoryOwner(key, keys), point: JSON.parse(point) }
      for (const kind of SOURCE_KINDS)
        for await (const record of readRecords(kind, keys)) yield { type: 'record', source, ...record }
    }
    for (const kind of EXPORTED_KINDS)
      if (!hasSource(kind))
        for await (const record of readRecords(kind, getSourceKeys(0))) yield { type: 'record', ...record }
    for await (const collection of readCollections()) {
      const found = await db.getMany(
        bySource.map(({ keys }) => keys.snapshot(collection.id)),
        { snapshot },
      )
      const numbers = bySource.flatMap(({ source }, i) =>
        found[i] === undefined ? [] : [[source, JSON.parse(found[i])] as const],
      )
      yield { type: 'collection', collection, numbers: Object.fromEntries(numbers) }
    }
  } finally {
    await snapshot.close()
  }
}

/** Returns the collection or the video in the key of a point. */
function toHistoryOwner(key: string, keys: SourceKeys): { collection: string } | { video: string } {
  const { gt } = keys.allPoints()
  const id = key.slice(gt.length, key.indexOf('!', gt.length))
  return id.startsWith(':') ? { video: id.slice(1) } : { collection: id }
}

async function* readRows(db: StatsDb, range: StatsKeyRange, snapshot: DbSnapshot) {
  const rows = db.iterator({ ...range, snapshot, fillCache: false, highWaterMarkBytes: SLICE_BYTES })
  try {
    for (let some; (some = await rows.nextv(SLICE_ROWS)).length > 0; await yieldTurn()) yield* some
  } finally {
    await rows.close()
  }
}
