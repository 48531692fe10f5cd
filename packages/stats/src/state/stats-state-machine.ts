import { FrameError } from '@influencer-stats/log/errors'
import { CLEAN_BOOT, clearLevel, isTorn, markClean } from '@influencer-stats/log/boot-check'
import type { LogEntry, LogPosition, StateMachine } from '@influencer-stats/log/log'
import { readBootId } from '@influencer-stats/runtime/boot-id'
import type { SharedLevel } from '@influencer-stats/runtime/shared-level'
import { getCurrentSource, withSource, type Sources } from '../core/sources.ts'
import { CHANGE_KIND, decodeChange, type StatsChange } from './stats-change.ts'
import { toCollectionKey, getAllKeys, getSourceKeys, type SourceKeys } from './level-keys.ts'
import { readSources } from './level-state.ts'
import { buildRows, writeRows, type LevelRow } from './level-rows.ts'
import { POSITION_KEY, restoreSnapshot, createSnapshotChunks } from './level-snapshot.ts'

/** Log position of a node's database. */
interface AppliedPosition {
  readonly position: LogPosition
  /** Boot of the machine during which it was written, or `clean` if everything is on the disk. */
  readonly boot: string | undefined
}

/** Evaluation of a batch until it is written. After a write fault it is written unchanged, not evaluated again. */
interface FrameResult {
  readonly position: LogPosition
  readonly rows: readonly LevelRow[]
  /** True for each entry that is applied. */
  readonly outcomes: readonly boolean[]
  /** Applied changes. */
  readonly changes: readonly StatsChange[]
}

/** State machine of the stats service, on the main thread. */
export interface StatsStateMachine extends StateMachine {
  /** Flushes everything to the disk, so that it is usable after a power cut. */
  settle(): Promise<void>
}

export interface StatsStateMachineOptions {
  readonly level: SharedLevel
  /** Called with the changes, in order, once they are readable. */
  onChanges(changes: readonly StatsChange[]): void
}

const toPositionRow = (applied: AppliedPosition): LevelRow => ({
  type: 'put',
  key: POSITION_KEY,
  value: JSON.stringify(applied),
})

/**
 * Opens the state machine of a database. After a possible power cut the data are deleted: LevelDB may contain a newer
 * change without an older one, and the node can restore all changes from the log.
 */
export async function openStatsStateMachine({
  level,
  onChanges,
}: StatsStateMachineOptions): Promise<StatsStateMachine> {
  const { db } = level
  const found = await db.get(POSITION_KEY)
  let applied: AppliedPosition | undefined = found === undefined ? undefined : JSON.parse(found)
  const boot = readBootId()
  if (applied && isTorn(applied.boot)) {
    await clearLevel(level, POSITION_KEY)
    applied = undefined
  }
  let evaluated: FrameResult | undefined

  async function evaluate(entries: readonly LogEntry[], position: LogPosition): Promise<FrameResult> {
    const batch = new ChangeBatch(level)
    const outcomes: boolean[] = []
    const changes: StatsChange[] = []
    for (const entry of entries) {
      const change = await batch.apply(read(entry))
      outcomes.push(change !== undefined)
      if (change) changes.push(change)
    }
    return { position, rows: batch.rows, outcomes, changes }
  }

  function read({ kind, seq, body }: LogEntry): StatsChange {
    const change = kind === CHANGE_KIND ? decodeChange(body) : undefined
    if (change && change.type in handlers) return change
    throw new FrameError('LOG_FORMAT_UNKNOWN', `entry ${seq} is of a kind that this version does not know`)
  }

  return {
    getPosition: () => applied?.position,

    async apply(entries, position) {
      // After a failed write the log applies the same batch again.
      if (evaluated?.position.seq !== position.seq) evaluated = await evaluate(entries, position)
      const { rows, outcomes, changes } = evaluated
      const next: AppliedPosition = { position, boot }
      await level.write(() => writeRows(db, [...rows, toPositionRow(next)]))
      applied = next
      evaluated = undefined
      onChanges(changes)
      return [...outcomes]
    },

    snapshot: () => createSnapshotChunks(db),

    async restore(chunks) {
      await clearLevel(level, POSITION_KEY)
      applied = undefined
      await toClean(JSON.parse(await restoreSnapshot(chunks, db)))
    },

    async settle() {
      if (applied && applied.boot !== CLEAN_BOOT) await toClean(applied)
    },
  }

  async function toClean(last: AppliedPosition): Promise<void> {
    const clean = { ...last, boot: CLEAN_BOOT }
    await markClean(level, POSITION_KEY, JSON.stringify(clean))
    applied = clean
  }
}

/** Entries that are written together. Each is evaluated against the result of the entries before it. */
class ChangeBatch {
  readonly rows: LevelRow[] = []
  readonly #db: SharedLevel['db']
  /** Revisions of the collections that this batch changes. */
  readonly #revisions = new Map<string, number | undefined>()
  #sources: Sources

  constructor({ db }: SharedLevel) {
    this.#db = db
    this.#sources = readSources(db)
  }

  /** Returns the applied part of a change, if any. Numbers of another source than the log's are not applied. */
  async apply(change: StatsChange): Promise<StatsChange | undefined> {
    if ('from' in change && change.from !== this.source) return undefined
    const handle = handlers[change.type] as (
      batch: ChangeBatch,
      change: StatsChange,
    ) => Promise<StatsChange | undefined>
    return handle(this, change)
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

  getRevision(id: string): number | undefined {
    if (this.#revisions.has(id)) return this.#revisions.get(id)
    const text = this.#db.getSync(toCollectionKey(id))
    return text === undefined ? undefined : JSON.parse(text).revision
  }

  add(rows: readonly LevelRow[]): void {
    for (const row of rows) this.rows.push(row)
  }

  setRevision(id: string, revision: number | undefined): void {
    this.#revisions.set(id, revision)
  }

  /** Deletes the histories of a collection, of every source: the stored points and those that this batch adds. */
  async deleteHistory(id: string): Promise<void> {
    for (const { history } of getAllKeys(this.#sources)) {
      const { gt, lt } = history(id)
      const keys = await this.#db.keys({ gt, lt }).all()
      for (const row of this.rows) if (row.type === 'put' && row.key > gt && row.key < lt) keys.push(row.key)
      this.add(keys.map((key) => ({ type: 'del', key })))
    }
  }
}

type ChangeHandlers = {
  [Type in StatsChange['type']]: (
    batch: ChangeBatch,
    change: Extract<StatsChange, { type: Type }>,
  ) => Promise<StatsChange | undefined>
}

const handlers: ChangeHandlers = {
  async put(batch, change) {
    const { collection, before } = change
    if (batch.getRevision(collection.id) !== before) return undefined
    batch.setRevision(collection.id, collection.revision)
    batch.add(buildRows.collection(collection))
    return change
  },
  async delete(batch, change) {
    const { id, before } = change
    if (batch.getRevision(id) !== before) return undefined
    batch.setRevision(id, undefined)
    batch.add(buildRows.collectionDeletion(id, batch.sources))
    await batch.deleteHistory(id)
    return change
  },
  async snapshots(batch, change) {
    // If the collection has changed since the request for its numbers, they belong to another version.
    const rows = change.rows.filter(({ id, revision }) => revision === undefined || batch.getRevision(id) === revision)
    batch.add(buildRows.snapshots(rows, batch.keys))
    return { ...change, rows }
  },
  async videos(batch, change) {
    batch.add(buildRows.videos(change.rows, batch.keys))
    return change
  },
  async deleteVideos(batch, change) {
    batch.add(buildRows.videoDeletions(change.ids, batch.keys))
    return change
  },
  async deletePoints(batch, change) {
    batch.add(buildRows.pointDeletions(change.id, change.times, batch.keys))
    return change
  },
  async usage(batch, change) {
    batch.add(buildRows.usage(change.usage))
    return change
  },
  async source(batch, change) {
    if (batch.source !== change.before) return undefined
    batch.sources = withSource(batch.sources, change.source)
    return change
  },
  asked: async (_, change) => change,
  wanted: async (_, change) => change,
  failed: async (_, change) => change,
}
