import { FrameError } from '@influencer-stats/log/errors'
import {
  openLevelStateMachine,
  type LevelStateMachine,
  type PositionRow,
} from '@influencer-stats/log/level-state-machine'
import type { LogEntry } from '@influencer-stats/log/log'
import { readEntry } from '@influencer-stats/log/read-entry'
import type { SharedLevel } from '@influencer-stats/runtime/shared-level'
import { getCurrentSource, withSource, type Sources } from '../core/sources.ts'
import { CHANGE_KIND, decodeChange, isDurableChange, type StatsChange } from './stats-change.ts'
import { isTrashed } from '../core/campaign.ts'
import type { ExportLine } from '../core/export-line.ts'
import { getLargerUsage, type QuotaUsage } from '../core/quota-budget.ts'
import { COLLECTION_KINDS, getCollectionIds, isRecordKind, replacesRecord } from '../core/record-kinds.ts'
import {
  toCollectionKey,
  getAllKeys,
  getRecordKeys,
  getSourceKeys,
  USAGE_KEY,
  type SourceKeys,
  type StatsKeyRange,
} from './level-keys.ts'
import { readSources } from './level-database.ts'
import { buildRows, writeRows, type LevelRow } from './level-rows.ts'
import { toHistoryId, type Collection, type TrashedCollection } from './stats-state.ts'
import { createStatsSnapshots, POSITION_KEY } from './level-snapshot.ts'

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
        const isApplied = await batch.apply(change)
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

const hasKnownKinds = (change: StatsChange) =>
  change.type !== 'records' || change.rows.every(({ kind }) => isRecordKind(kind))

/** Keys of records without a source. */
const ROOT_KEYS = getSourceKeys(0)

/** Entries that are written together. Each is evaluated against the result of the entries before it. */
class ChangeBatch {
  readonly rows: LevelRow[] = []
  readonly #db: SharedLevel['db']
  /** Revisions of the collections that this batch changes. */
  readonly #revisions = new Map<string, number | undefined>()
  /** Revisions in the trash that this batch changes. */
  readonly #trashed = new Map<string, number | undefined>()
  #sources: Sources

  constructor({ db }: SharedLevel) {
    this.#db = db
    this.#sources = readSources(db)
  }

  /** Returns true if a change is applied. Numbers of another source than the log's are not applied. */
  apply(change: StatsChange): boolean | Promise<boolean> {
    if ('from' in change && change.from !== this.source) return false
    return handlers[change.type](this, change as never)
  }

  get sources(): Sources {
    return this.#sources
  }

  set sources(sources: Sources) {
    this.#sources = sources
    this.add(buildRows.sources(sources))
  }

  /** Source of the log. */
  get source(): string | undefined {
    return getCurrentSource(this.#sources)
  }

  /** Keys of the numbers of the log's source. */
  get keys(): SourceKeys {
    return getSourceKeys(this.#sources.current)
  }

  /** Returns the keys of a source, which is added if it is new. */
  getKeysOf(source: string): SourceKeys {
    const { names, current } = this.#sources
    if (!names.includes(source)) this.sources = { names: [...names, source], current }
    return getSourceKeys(this.#sources.names.indexOf(source))
  }

  getRevision(id: string): number | undefined {
    if (this.#revisions.has(id)) return this.#revisions.get(id)
    return this.getStored(toCollectionKey(id))?.revision
  }

  /** Returns the revision of a collection in the trash. */
  getTrashedRevision(id: string): number | undefined {
    if (this.#trashed.has(id)) return this.#trashed.get(id)
    return this.getStored(ROOT_KEYS.record('trash', id))?.revision
  }

  /** Moves a collection to the trash, or removes it from there. */
  setTrashed(id: string, collection: TrashedCollection | undefined): true {
    this.#trashed.set(id, collection?.revision)
    return this.add(buildRows.records([{ kind: 'trash', key: id, value: collection }], this.keys))
  }

  /** Moves a collection to the trash. Its numbers, its history and its records remain. */
  moveToTrash(collection: TrashedCollection): true {
    this.setRevision(collection.id, undefined)
    this.add([{ type: 'del', key: toCollectionKey(collection.id) }])
    return this.setTrashed(collection.id, collection)
  }

  /** Stores a collection, which may be in the trash. */
  takeFromTrash(collection: Collection): true {
    const { id, revision } = collection
    if (this.getTrashedRevision(id) !== undefined) this.setTrashed(id, undefined)
    this.setRevision(id, revision)
    return this.add(buildRows.collection(collection))
  }

  /** Returns a stored value, without those of this batch. */
  getStored(key: string): any {
    const text = this.#db.getSync(key)
    return text === undefined ? undefined : JSON.parse(text)
  }

  /** Returns the used quota after the rows of this batch. */
  readUsage(): QuotaUsage | undefined {
    const row = this.rows.findLast(({ key }) => key === USAGE_KEY)
    const text = row?.type === 'put' ? row.value : this.#db.getSync(USAGE_KEY)
    return text === undefined ? undefined : JSON.parse(text)
  }

  /** Adds the rows of an applied change. Returns true. */
  add(rows: readonly LevelRow[]): true {
    for (const row of rows) this.rows.push(row)
    return true
  }

  setRevision(id: string, revision: number | undefined): void {
    this.#revisions.set(id, revision)
  }

  /**
   * Deletes a collection, also from the trash, with its numbers, its histories of every source and its records: the
   * stored ones and those that this batch adds.
   */
  async deleteCollection(id: string): Promise<void> {
    this.setRevision(id, undefined)
    if (this.getTrashedRevision(id) !== undefined) this.setTrashed(id, undefined)
    this.add(buildRows.collectionDeletion(id, this.#sources))
    for (const { history } of getAllKeys(this.#sources)) await this.#deleteRange(history(id))
    for (const kind of COLLECTION_KINDS) await this.#deleteRange(ROOT_KEYS.records(kind, { prefix: `${id}/` }))
  }

  async #deleteRange({ gt, lt }: StatsKeyRange): Promise<void> {
    const added = this.rows.filter(({ type, key }) => type === 'put' && key > gt && key < lt)
    this.add(added.map(({ key }) => ({ type: 'del', key })))
    // Read one by one, so that other work runs between.
    for await (const key of this.#db.keys({ gt, lt })) this.rows.push({ type: 'del', key })
  }
}

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
  asked: () => true,
  wanted: () => true,
  failed: () => true,
}
