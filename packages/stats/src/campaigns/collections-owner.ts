import { randomInt } from 'node:crypto'
import { isReversed } from '../core/campaign.ts'
import type { Snapshot } from '../core/video-numbers.ts'
import { errors } from '../errors.ts'
import { SnapshotWriter } from '../persist/snapshot-writer.ts'
import {
  ConflictError,
  type Collection,
  type CollectionVersion,
  type MaybePromise,
  type StatsState,
  type VideoRow,
} from '../state/stats-state.ts'
import type { ExportLine } from '../core/export-line.ts'
import { ChangeWriter, writeChange, type CollectionChange } from './change-writer.ts'
import {
  collectionChanges,
  type ChangeArgs,
  type ChangeName,
  type ChangeResult,
  type CollectionFields,
} from './collection-changes.ts'
import type { Collections } from './collections.ts'
import { pruneCollections, pruneVideos } from './retention.ts'

export interface CollectionsOwnerOptions {
  readonly state: StatsState
  /** Age at which points of a history are deleted (ms). */
  readonly retention: number
  /**
   * Called after a collection changed, before the caller gets its response.
   * @param requester `threadId` of the thread that requested the change; undefined for this thread
   */
  readonly onChange?: (id: string, collection: Collection | undefined, requester?: number) => MaybePromise<void>
  /** Called with a background failure and its description; the work is retried. */
  readonly onFault?: (fault: unknown, description: string) => void
  /** Returns true if this process prunes the histories at present. By default it always prunes. */
  readonly shouldPrune?: () => boolean
}

const PRUNE_INTERVAL_MS = 3_600_000

function rethrow(fault: unknown): never {
  throw fault
}

type CollectionEdit = (before: Collection | undefined) => CollectionFields | undefined

/**
 * The only writer of a state in this process. If no other process writes to the state, it applies changes one at a time,
 * so that no two of them interleave. In a cluster the log decides the order, and a change that conflicts is computed
 * again.
 */
export class CollectionsOwner implements Collections {
  readonly state: StatsState
  readonly #retention: number
  readonly #onChange: NonNullable<CollectionsOwnerOptions['onChange']>
  readonly #pruneTimer: NodeJS.Timeout
  readonly #snapshotWriter: SnapshotWriter
  readonly #changeWriter: ChangeWriter
  #lastRevision = 0

  constructor({
    state,
    retention,
    onChange = () => {},
    onFault = rethrow,
    shouldPrune = () => true,
  }: CollectionsOwnerOptions) {
    this.state = state
    this.#retention = retention
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
    const compute = collectionChanges[name] as (before: Collection | undefined, ...args: unknown[]) => never
    const edit: CollectionEdit = (before) => compute(before, id, ...args)
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
  }

  saveSnapshot(collection: CollectionVersion, snapshot: Snapshot) {
    return this.#snapshotWriter.save(collection, snapshot)
  }

  saveVideos(rows: readonly VideoRow[]) {
    return this.state.putVideos(rows)
  }

  /** Prunes every history, and deletes videos whose details are too old: see `pruneVideos`. */
  async prune(now = Date.now()): Promise<void> {
    await pruneCollections(this.state, this.#retention, now)
    await pruneVideos(this.state, this.#retention, now)
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
      const change = this.#computeChange(id, await this.state.get(id), edit)
      if (change.after === change.before) return change
      await this.#changeWriter.write(change)
      await this.#onChange(id, change.after, requester)
      return change
    })
  }

  /**
   * Changes a collection that other nodes change too. If `edit` refuses or changes nothing, the reason may be that this
   * node has not applied an earlier change yet. So `edit` runs again after `catchUp`, and only that result counts.
   */
  async #changeShared(id: string, edit: CollectionEdit): Promise<CollectionChange> {
    for (let isCurrent = false; ;) {
      const before = await this.state.get(id)
      let change: CollectionChange | undefined
      try {
        change = this.#computeChange(id, before, edit)
      } catch (refusal) {
        if (isCurrent) throw refusal
      }
      if (change && change.after !== before) {
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

  #computeChange(id: string, before: Collection | undefined, edit: CollectionEdit): CollectionChange {
    const next = edit(before)
    if (next === before) return { id, before, after: before }
    if (next && isReversed(next)) throw errors.INVALID_DATE_RANGE(`from ${next.from} to ${next.to}`)
    return { id, before, after: next && this.#createVersion(id, before, next) }
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
