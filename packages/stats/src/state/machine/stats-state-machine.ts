import { FrameError } from '@influencer-stats/log/errors'
import {
  openLevelStateMachine,
  type LevelStateMachine,
  type PositionRow,
} from '@influencer-stats/log/level-state-machine'
import type { LogEntry } from '@influencer-stats/log/log'
import { readEntry } from '@influencer-stats/log/read-entry'
import type { SharedLevel } from '@influencer-stats/runtime/shared-level'
import { withSource } from '../../core/sources.ts'
import { CHANGE_KIND, decodeChange, isDurableChange, type StatsChange } from '../stats-change.ts'
import { isTrashed } from '../../core/campaign.ts'
import type { ExportLine } from '../../core/export-line.ts'
import { getLargerUsage } from '../../core/quota-budget.ts'
import { getCollectionIds, isRecordKind, replacesRecord } from '../../core/record-kinds.ts'
import { getRecordKeys } from '../level-keys.ts'
import { buildRows, writeRows, type LevelRow } from '../level-rows.ts'
import { ChangeBatch } from './change-batch.ts'
import { toHistoryId } from '../stats-state.ts'
import { createStatsSnapshots, POSITION_KEY } from '../level-snapshot.ts'

/** Evaluated entries. */
interface EvaluatedChanges {
  readonly rows: readonly LevelRow[]
  /** True for each entry that is applied. */
  readonly outcomes: readonly boolean[]
  /** Applied changes. */
  readonly changes: readonly StatsChange[]
}

export interface StatsStateMachineOptions {
  readonly level: SharedLevel
  /**
   * True for a node of a cluster. Otherwise the database is the only copy of its data, and changes of collections are
   * synced to the disk.
   */
  readonly isReplica: boolean
  /** Called with the changes, in order, once they are readable. */
  onChanges?(changes: readonly StatsChange[]): void
}

/** Opens the state machine of a database, on the main thread. */
export function openStatsStateMachine({
  level,
  isReplica,
  onChanges,
}: StatsStateMachineOptions): Promise<LevelStateMachine> {
  const { db } = level
  return openLevelStateMachine<PositionRow, EvaluatedChanges>({
    level,
    positionKey: POSITION_KEY,
    isReplica,
    snapshots: createStatsSnapshots(db),

    async evaluate(entries) {
      const batch = new ChangeBatch(level)
      const outcomes: boolean[] = []
      const changes: StatsChange[] = []
      for (const entry of entries) {
        const change = readChange(entry)
        const isApplied = await applyChange(batch, change)
        outcomes.push(isApplied)
        if (isApplied) changes.push(change)
      }
      return { rows: batch.rows, outcomes, changes }
    },

    async write({ rows, changes }, row) {
      if (isReplica) {
        const positionRow: LevelRow = { type: 'put', key: POSITION_KEY, value: JSON.stringify(row) }
        await level.write(() => writeRows(db, [...rows, positionRow]))
      } else if (rows.length > 0) {
        // No position: a local log has no entries that a later start could apply.
        const sync = changes.some(isDurableChange)
        await level.write(() => writeRows(db, rows, { sync }))
      }
      return row
    },

    publish({ outcomes, changes }) {
      onChanges?.(changes)
      return [...outcomes]
    },
  })
}

/** @throws FrameError */
function readChange(entry: LogEntry): StatsChange {
  const { kind, seq } = entry
  const change = kind === CHANGE_KIND ? readEntry(entry, decodeChange) : undefined
  if (change && change.type in handlers && hasKnownKinds(change)) return change
  throw new FrameError('LOG_FORMAT_UNKNOWN', `entry ${seq} is of a kind that this version does not know`, seq)
}

/** Returns true if a change is applied. Numbers of another source than the log's are not applied. */
function applyChange(batch: ChangeBatch, change: StatsChange): boolean | Promise<boolean> {
  if ('from' in change && change.from !== batch.source) return false
  return handlers[change.type](batch, change as never)
}

const hasKnownKinds = (change: StatsChange) =>
  change.type !== 'records' || change.rows.every(({ kind }) => isRecordKind(kind))

/** Functions that add the rows of a change to a batch, and return true if the change is applied. */
type ChangeHandlers = {
  [Type in StatsChange['type']]: (
    batch: ChangeBatch,
    change: Extract<StatsChange, { type: Type }>,
  ) => boolean | Promise<boolean>
}

/** Functions that add the rows of a line of an export to a batch. */
const importers: {
  [Type in ExportLine['type']]: (batch: ChangeBatch, line: Extract<ExportLine, { type: Type }>) => void
} = {
  usage: (batch, { usage }) => batch.add(buildRows.usage(getLargerUsage(batch.readUsage(), usage))),
  details: (batch, { source, details }) =>
    batch.add(buildRows.videos([{ id: details.id, details }], batch.getKeysOf(source))),
  point(batch, { source, collection, video, point }) {
    const id = collection ?? toHistoryId(video!)
    batch.add(buildRows.point(id, point, batch.getKeysOf(source)))
  },
  record(batch, { source, kind, key, value }) {
    const keys = getRecordKeys(kind, source === undefined ? batch.keys : batch.getKeysOf(source))
    if (replacesRecord(value, batch.getStored(keys.record(kind, key))))
      batch.add(buildRows.records([{ kind, key, value }], keys))
  },
  collection(batch, { collection, numbers }) {
    const { id, revision } = collection
    // A later version remains with its numbers; so an import can be repeated after changes.
    if (Math.max(batch.getRevision(id) ?? -1, batch.getTrashedRevision(id) ?? -1) >= revision) return
    if (isTrashed(collection)) batch.moveToTrash(collection)
    else batch.takeFromTrash(collection)
    for (const [source, snapshot] of Object.entries(numbers))
      batch.add(buildRows.snapshots([{ id, snapshot }], batch.getKeysOf(source)))
  },
}

const handlers: ChangeHandlers = {
  async put(batch, { collection, before }) {
    if (batch.getRevision(collection.id) !== before) return false
    if (before === undefined && batch.getTrashedRevision(collection.id) !== undefined)
      await batch.deleteCollection(collection.id)
    batch.setRevision(collection.id, collection.revision)
    return batch.add(buildRows.collection(collection))
  },
  import(batch, { lines }) {
    for (const line of lines) importers[line.type](batch, line as never)
    return true
  },
  async delete(batch, { id, before, trashed }) {
    if (batch.getRevision(id) !== before) return false
    if (trashed !== undefined && batch.getTrashedRevision(id) !== trashed) return false
    await batch.deleteCollection(id)
    return true
  },
  trash(batch, { collection, before }) {
    if (batch.getRevision(collection.id) !== before) return false
    return batch.moveToTrash(collection)
  },
  restore(batch, { collection, trashed }) {
    const { id } = collection
    if (batch.getRevision(id) !== undefined || batch.getTrashedRevision(id) !== trashed) return false
    return batch.takeFromTrash(collection)
  },
  records(batch, { rows }) {
    if (getCollectionIds(rows).some((id) => batch.getRevision(id) === undefined)) return false
    if (rows.some(({ kind, key, before = -1 }) => before >= 0 && before !== batch.getRecordRevision(kind, key)))
      return false
    return batch.add(buildRows.records(rows, batch.keys))
  },
  snapshots(batch, change) {
    // If the collection has changed since the request for its numbers, they belong to another version.
    const rows = change.rows.filter(({ id, revision }) => revision === undefined || batch.getRevision(id) === revision)
    return batch.add(buildRows.snapshots(rows, batch.keys))
  },
  videos: (batch, { rows }) => batch.add(buildRows.videos(rows, batch.keys)),
  deleteVideos: (batch, { ids }) => batch.add(buildRows.videoDeletions(ids, batch.keys)),
  deletePoints: (batch, { id, times }) => batch.add(buildRows.pointDeletions(id, times, batch.keys)),
  usage: (batch, { usage }) => batch.add(buildRows.usage(usage)),
  source(batch, { source, before }) {
    if (batch.source !== before) return false
    batch.sources = withSource(batch.sources, source)
    return true
  },
  lookup: () => true,
  lookedUp: () => true,
  asked: () => true,
  wanted: () => true,
  failed: () => true,
}
