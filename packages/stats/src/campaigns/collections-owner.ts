import { randomInt } from 'node:crypto'
import { findAmbiguousCost, isReversed, getEtag } from '../core/campaign.ts'
import type { Problem } from '@influencer-stats/runtime/problems'
import type { Snapshot } from '../core/video-numbers.ts'
import { errors } from '../errors.ts'
import { SnapshotWriter } from '../persist/snapshot-writer.ts'
import {
  ConflictError,
  type Collection,
  type CollectionVersion,
  type MaybePromise,
  type StatsState,
  type TrashedCollection,
  type VideoRow,
} from '../state/stats-state.ts'
import type { ExportLine } from '../core/export-line.ts'
import type { RecordEdit } from '../core/record-kinds.ts'
import { ChangeWriter, writeChange, type CollectionChange } from './change-writer.ts'
import {
  collectionChanges,
  trashChanges,
  type ChangeArgs,
  type ChangeName,
  type ChangeResult,
  type CollectionFields,
} from './collection-changes.ts'
import type { Collections } from './collections.ts'
import { writeRecords } from './record-writer.ts'
import { Pruner } from './pruner.ts'
import { readTrash } from './retention.ts'

export interface CollectionsOwnerOptions {
  readonly state: StatsState
  /** Age from which a history has one point per day (ms), or none without `dailyRetention`. */
  readonly retention: number
  /** Time for which a deleted collection can be restored (ms); by default, and with 0, deletions are final. */
  readonly trashRetention?: number
  /** Age at which these points are deleted, too (ms). */
  readonly dailyRetention?: number
  /**
   * Called after a collection changed, before the caller gets its response.
   * @param requester `threadId` of the thread that requested the change; undefined for this thread
   * @param last stored numbers of a restored collection
   */
  readonly onChange?: (
    id: string,
    collection: Collection | undefined,
    requester?: number,
    last?: Snapshot,
  ) => MaybePromise<void>
  /** Called with a background failure and its description; the work is retried. */
  readonly onFault?: (fault: unknown, description: string) => void
  /** Returns true if this process prunes the histories at present. By default it always prunes. */
  readonly shouldPrune?: () => boolean
}

const PRUNE_INTERVAL_MS = 3_600_000

/** Throws the Problem `INVALID_DATE_RANGE` or `COST_AMBIGUOUS` if fields contradict each other. */
function requireValid(fields: CollectionFields): void {
  if (isReversed(fields)) throw errors.INVALID_DATE_RANGE(`from ${fields.from} to ${fields.to}`)
  const reason = findAmbiguousCost(fields)
  if (reason) throw errors.COST_AMBIGUOUS(reason)
}

/** Ignores that a collection was restored, or deleted for good, since it was read. */
function ignoreRestored(fault: unknown): void {
  const { code } = fault as Partial<Problem>
  if (code !== errors.NOT_IN_TRASH.code && code !== errors.CONDITION_FAILED.code) throw fault
}

function rethrow(fault: unknown): never {
  throw fault
}

/** A change that is computed from the collection, or with `isOfTrash` from the deleted collection. */
interface CollectionEdit {
  readonly isOfTrash: boolean
  compute(found: Collection | undefined): CollectionFields | undefined
}

/** A collection, and the deleted collection of the same id if it is of interest. */
interface StoredCollection {
  readonly before: Collection | undefined
  readonly trashBefore?: TrashedCollection | undefined
}

/** True if a change has nothing to do. */
const isNoop = ({ before, after, trashBefore }: CollectionChange) => after === before && !trashBefore

/**
 * The only writer of a state in this process. If no other process writes to the state, it applies changes one at a time,
 * so that no two of them interleave. In a cluster the log decides the order, and a change that conflicts is computed
 * again.
 */
export class CollectionsOwner implements Collections {
  readonly state: StatsState
  readonly #trashRetention: number
  readonly #pruner: Pruner
  readonly #onChange: NonNullable<CollectionsOwnerOptions['onChange']>
  readonly #pruneTimer: NodeJS.Timeout
  readonly #snapshotWriter: SnapshotWriter
  readonly #changeWriter: ChangeWriter
  #lastRevision = 0

  constructor({
    state,
    retention,
    dailyRetention = retention,
    trashRetention = 0,
    onChange = () => {},
    onFault = rethrow,
    shouldPrune = () => true,
  }: CollectionsOwnerOptions) {
    this.state = state
    this.#pruner = new Pruner(state, { hourly: retention, daily: dailyRetention })
    this.#trashRetention = trashRetention
    this.#onChange = onChange
    this.#snapshotWriter = new SnapshotWriter(state, (fault) => onFault(fault, 'numbers could not be stored'))
    this.#changeWriter = new ChangeWriter({ state, snapshotWriter: this.#snapshotWriter, onSettled: onChange })
    const prune = () => this.prune().catch((fault) => onFault(fault, 'old history points could not be deleted'))
    this.#pruneTimer = setInterval(() => void (shouldPrune() && prune()), PRUNE_INTERVAL_MS).unref()
  }

  change<Name extends ChangeName>(name: Name, id: string, ...args: ChangeArgs<Name>): Promise<ChangeResult<Name>> {
    return this.changeFor(undefined, name, id, args)
  }

  /** Makes a change that another thread requests. @param requester `threadId` of that thread */
  async changeFor<Name extends ChangeName>(
    requester: number | undefined,
    name: Name,
    id: string,
    args: ChangeArgs<Name>,
  ): Promise<ChangeResult<Name>> {
    const compute = { ...collectionChanges, ...trashChanges }[name] as (found: unknown, ...args: unknown[]) => never
    const edit: CollectionEdit = {
      isOfTrash: Object.hasOwn(trashChanges, name),
      compute: (found) => compute(found, id, ...args),
    }
    const { before, after } = await (this.state.catchUp
      ? this.#changeShared(id, edit)
      : this.#changeOwn(id, edit, requester))
    const collection = after as ChangeResult<Name>['collection']
    return { collection, isNew: before === undefined, isChanged: after !== before }
  }

  /**
   * Applies lines of an export between two changes.
   * @throws Problem `IMPORT_NOT_SUPPORTED`, `LOG_UNAVAILABLE`, `OUTCOME_UNKNOWN`
   */
  async importLines(lines: readonly ExportLine[]): Promise<void> {
    const { state } = this
    if (!state.importLines) throw errors.IMPORT_NOT_SUPPORTED('an import needs --state level')
    await this.#changeWriter.run(() => state.importLines!(lines))
    this.#pruner.requireWhole()
  }

  /**
   * Writes records after all earlier changes. In a cluster they are computed again if another change came first, or if
   * this node has not applied an earlier change yet.
   * @param compute returns the changes, and the result; throws the problems of a refusal
   */
  changeRecords<T>(compute: () => Promise<RecordEdit<T>>): Promise<T> {
    const write = () => writeRecords(this.state, compute)
    return this.state.catchUp ? write() : this.#changeWriter.run(write)
  }

  saveSnapshot(collection: CollectionVersion, snapshot: Snapshot) {
    return this.#snapshotWriter.save(collection, snapshot)
  }

  saveVideos(rows: readonly VideoRow[]) {
    return this.state.putVideos(rows)
  }

  /** Deletes old data: see `Pruner`. */
  async prune(now = Date.now()): Promise<void> {
    await this.#pruner.prune(now)
    await this.#emptyTrash(now)
  }

  /** Deletes the collections for good whose time in the trash is over. */
  async #emptyTrash(now: number): Promise<void> {
    for await (const trashed of readTrash(this.state)) {
      const { id, deleted } = trashed
      // The row of a collection that exists: see `trash` of the state kv.
      if (await this.state.get(id)) await this.state.putRecords([{ kind: 'trash', key: id }])
      else if (Date.parse(deleted) + this.#trashRetention <= now)
        await this.change('purge', id, { match: [getEtag(trashed)] }).catch(ignoreRestored)
    }
  }

  /** Waits for pending work and closes the state. Idempotent. */
  async close(): Promise<void> {
    clearInterval(this.#pruneTimer)
    await this.#changeWriter.close()
    await this.#snapshotWriter.close()
    await this.state.close()
  }

  /** Changes a collection after all earlier changes. */
  #changeOwn(id: string, edit: CollectionEdit, requester: number | undefined): Promise<CollectionChange> {
    return this.#changeWriter.run(async () => {
      const change = this.#computeChange(id, await this.#read(id, edit), edit)
      if (isNoop(change)) return change
      await this.#changeWriter.write(change)
      const last = change.trashBefore && change.after && (await this.state.getSnapshot(id))
      await this.#onChange(id, change.after, requester, last)
      return change
    })
  }

  async #read(id: string, { isOfTrash }: CollectionEdit): Promise<StoredCollection> {
    const before = await this.state.get(id)
    return { before, trashBefore: isOfTrash && !before ? (await this.state.getRecords('trash', [id]))[0] : undefined }
  }

  /**
   * Changes a collection that other nodes change too. If `edit` refuses or changes nothing, the reason may be that this
   * node has not applied an earlier change yet. So `edit` runs again after `catchUp`, and only that result counts.
   */
  async #changeShared(id: string, edit: CollectionEdit): Promise<CollectionChange> {
    for (let isCurrent = false; ;) {
      const found = await this.#read(id, edit)
      let change: CollectionChange | undefined
      try {
        change = this.#computeChange(id, found, edit)
      } catch (refusal) {
        if (isCurrent) throw refusal
      }
      if (change && !isNoop(change)) {
        if (!(await this.#tryWrite(change))) continue
        await this.#onChange(id, change.after)
        return change
      }
      if (change && isCurrent) return change
      await this.state.catchUp!()
      isCurrent = true
    }
  }

  /** Writes a change; false if another change came first. That change is visible here by then. */
  async #tryWrite(change: CollectionChange): Promise<boolean> {
    try {
      await writeChange(this.state, change)
      return true
    } catch (fault) {
      if (fault instanceof ConflictError) return false
      throw fault
    }
  }

  #computeChange(id: string, { before, trashBefore }: StoredCollection, edit: CollectionEdit): CollectionChange {
    const found = edit.isOfTrash ? trashBefore : before
    const next = edit.compute(found)
    if (next === before && !edit.isOfTrash) return { id, before, after: before }
    if (next) requireValid(next)
    const after = next && this.#createVersion(id, found, next)
    if (edit.isOfTrash) return { id, before, after, trashBefore }
    return { id, before, after, ...(before && !after && { trashAfter: this.#createTrashed(before) }) }
  }

  /** Returns the collection to move to the trash; undefined if deletions are final. */
  #createTrashed(before: Collection): TrashedCollection | undefined {
    if (this.#trashRetention === 0) return undefined
    return { ...before, revision: this.#createRevision(before), deleted: new Date().toISOString() }
  }

  /** Returns a collection with `content` and the next version. */
  #createVersion(id: string, before: Collection | undefined, content: CollectionFields): Collection {
    const revision = this.#createRevision(before)
    const created = before ? before.created : revision
    return { ...content, id, revision, ...(created !== undefined && { created }) }
  }

  #createRevision(before: Collection | undefined): number {
    // The time in microseconds, so that no revision is used twice, even after a restart. It is higher than the previous
    // revision, which another machine with a faster clock may have created. The digits below the millisecond are random,
    // because two nodes may create the same collection in the same millisecond.
    const minRevision = Math.max(this.#lastRevision, before?.revision ?? 0) + 1
    return (this.#lastRevision = Math.max(minRevision, Date.now() * 1000 + randomInt(1000)))
  }
}
