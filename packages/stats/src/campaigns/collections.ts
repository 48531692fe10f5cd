import type { Preconditions } from '@influencer-stats/runtime/conditions'
import { createBackOff, pause, retry } from '@influencer-stats/runtime/async/retry'
import { randomInt } from 'node:crypto'
import { ChangeQueue } from './change-queue.ts'
import { isReversed, applyPatch, type Campaign, type CampaignPatch } from '../core/campaign.ts'
import { removeDuplicates, MAX_VIDEOS } from '../core/ids.ts'
import type { Snapshot } from '../core/video-numbers.ts'
import { errors } from '../errors.ts'
import { requireCondition } from './require-condition.ts'
import { SnapshotWriter } from '../persist/snapshot-writer.ts'
import {
  ConflictError,
  type Collection,
  type CollectionVersion,
  type MaybePromise,
  type StatsState,
  type StateReader,
  type VideoRow,
} from '../state/stats-state.ts'
import { pruneCollections, pruneVideos } from './retention.ts'

/**
 * Collections for routes and caches, independent of the thread that owns the state. A change throws the Problem
 * `CONDITION_FAILED` if the collection does not meet its condition.
 */
export interface Collections extends StateReader {
  /**
   * Creates or replaces a collection.
   * @returns `created`: true if the collection is new.
   * @throws Problem `INVALID_DATE_RANGE`
   */
  put(
    id: string,
    videos: readonly string[],
    campaign?: Campaign,
    condition?: Preconditions,
  ): Promise<{ collection: Collection; created: boolean }>
  /**
   * Changes the fields of `patch`.
   * @throws Problem `COLLECTION_NOT_FOUND`, `INVALID_DATE_RANGE`
   */
  patch(id: string, patch: CollectionPatch, condition?: Preconditions): Promise<Collection>
  /** Deletes a collection, its numbers and its history. @returns true if the collection existed */
  delete(id: string, condition?: Preconditions): Promise<boolean>
  /**
   * Adds a video to a collection.
   * @returns `created`: true if the collection did not contain the video.
   * @throws Problem `COLLECTION_NOT_FOUND`, `COLLECTION_FULL`
   */
  addVideo(id: string, video: string, condition?: Preconditions): Promise<{ collection: Collection; created: boolean }>
  /** Removes a video from a collection. @throws Problem `COLLECTION_NOT_FOUND`, `VIDEO_NOT_IN_COLLECTION` */
  removeVideo(id: string, video: string, condition?: Preconditions): Promise<Collection>
  /**
   * Stores numbers; the history gets a point if the sums changed. Does nothing if the collection was deleted or changed
   * since the request for its numbers. Does not wait for a failing state: the newest numbers are stored later.
   */
  saveSnapshot(collection: CollectionVersion, snapshot: Snapshot): Promise<void>
  /** Stores details of videos and points of their histories. */
  saveVideos(rows: readonly VideoRow[]): MaybePromise<void>
}

/** A change of a collection: `null` removes a field of its campaign. */
export interface CollectionPatch extends CampaignPatch {
  readonly videos?: readonly string[] | undefined
}

export interface CollectionsOwnerOptions {
  readonly state: StatsState
  /** Age at which points of a history are deleted (ms). */
  readonly retention: number
  /** Called after a collection changed, before the caller gets its response. */
  readonly onChange?: (id: string, collection: Collection | undefined) => MaybePromise<void>
  /** Called with a background failure and its description; the work is retried. */
  readonly onFault?: (fault: unknown, description: string) => void
  /** Returns true if this process prunes the histories at present. By default it always prunes. */
  readonly shouldPrune?: () => boolean
}

/** One change of a collection. Without `after` it is a deletion, without `before` a creation. */
interface CollectionChange {
  readonly id: string
  readonly before: Collection | undefined
  readonly after: Collection | undefined
}

/** A collection without its id, its revision and its time of creation. */
type CollectionFields = Omit<Collection, 'id' | 'revision' | 'created'>

const PRUNE_INTERVAL_MS = 3_600_000

function rethrow(fault: unknown): never {
  throw fault
}

/**
 * Computes the new fields of a collection. The result undefined deletes the collection; the argument itself as the result
 * changes nothing.
 */
type CollectionEdit = (before: Collection | undefined) => CollectionFields | undefined

/**
 * The only writer of a state in this process. If no other process writes to the state, it applies changes one at a time,
 * so that no two of them interleave. It also repeats a change with an unknown outcome until the outcome is known, and
 * refuses all other changes until then. In a cluster the log decides the order, and a change that conflicts is computed
 * again.
 */
export class CollectionsOwner implements Collections {
  readonly #state: StatsState
  readonly #retention: number
  readonly #onChange: NonNullable<CollectionsOwnerOptions['onChange']>
  readonly #pruneTimer: NodeJS.Timeout
  readonly #queue = new ChangeQueue()
  readonly #snapshotWriter: SnapshotWriter
  readonly #closing = new AbortController()
  #settling: Promise<void> | undefined
  #lastRevision = 0

  constructor({ state, retention, onChange, onFault = rethrow, shouldPrune = () => true }: CollectionsOwnerOptions) {
    this.#state = state
    this.#retention = retention
    this.#onChange = onChange ?? (() => {})
    this.#snapshotWriter = new SnapshotWriter(state, (fault) => onFault(fault, 'numbers could not be stored'))
    const prune = () => this.prune().catch((fault) => onFault(fault, 'old history points could not be deleted'))
    this.#pruneTimer = setInterval(() => void (shouldPrune() && prune()), PRUNE_INTERVAL_MS).unref()
  }

  get isRemote() {
    return this.#state.isRemote
  }

  get(id: string) {
    return this.#state.get(id)
  }

  list(after: string, limit: number) {
    return this.#state.list(after, limit)
  }

  getSnapshot(id: string) {
    return this.#state.getSnapshot(id)
  }

  /** Returns the last known numbers of the collections `ids`, which are the ids of a page of `list`, in their order. */
  getSnapshots(ids: readonly string[]) {
    return this.#state.getSnapshots(ids)
  }

  getHistory(id: string, from: number, to: number, limit: number) {
    return this.#state.getHistory(id, from, to, limit)
  }

  getVideos(ids: readonly string[]) {
    return this.#state.getVideos(ids)
  }

  saveVideos(rows: readonly VideoRow[]) {
    return this.#state.putVideos(rows)
  }

  /** Returns the last point of the history at or before a time (ms). */
  getPointAt(id: string, at: number) {
    return this.#state.getPointAt(id, at)
  }

  async put(id: string, videos: readonly string[], campaign: Campaign = {}, condition?: Preconditions) {
    const { before, after } = await this.#change(id, (collection) => {
      requireCondition(collection, condition)
      return { videos: removeDuplicates(videos), ...applyPatch({}, campaign) }
    })
    return { collection: after!, created: before === undefined }
  }

  async patch(id: string, { videos, ...campaign }: CollectionPatch, condition?: Preconditions) {
    const { after } = await this.#change(id, (collection) => {
      const before = requireCollection(id, collection)
      requireCondition(before, condition)
      return { videos: videos ? removeDuplicates(videos) : before.videos, ...applyPatch(before, campaign) }
    })
    return after!
  }

  async delete(id: string, condition?: Preconditions) {
    const { before } = await this.#change(id, (collection) => {
      if (collection) requireCondition(collection, condition)
      return undefined
    })
    return before !== undefined
  }

  async addVideo(id: string, video: string, condition?: Preconditions) {
    const { before, after } = await this.#change(id, (collection) => {
      const before = requireCollection(id, collection)
      requireCondition(before, condition)
      if (before.videos.includes(video)) return before
      if (before.videos.length >= MAX_VIDEOS) throw errors.COLLECTION_FULL(`maximum of ${MAX_VIDEOS} videos`)
      return { ...before, videos: [...before.videos, video] }
    })
    return { collection: after!, created: after !== before }
  }

  async removeVideo(id: string, video: string, condition?: Preconditions) {
    const { after } = await this.#change(id, (collection) => {
      const before = requireCollection(id, collection)
      if (!before.videos.includes(video)) throw errors.VIDEO_NOT_IN_COLLECTION()
      requireCondition(before, condition)
      return { ...before, videos: before.videos.filter((other) => other !== video) }
    })
    return after!
  }

  saveSnapshot(collection: CollectionVersion, snapshot: Snapshot) {
    return this.#snapshotWriter.save(collection, snapshot)
  }

  /** Prunes every history, and deletes videos whose details are too old: see `pruneVideos`. */
  async prune(now = Date.now()): Promise<void> {
    await pruneCollections(this.#state, this.#retention, now)
    await pruneVideos(this.#state, this.#retention, now)
  }

  /** Waits for pending work and closes the state. Idempotent. */
  async close(): Promise<void> {
    clearInterval(this.#pruneTimer)
    this.#closing.abort()
    await this.#queue.waitUntilIdle()
    await this.#settling
    await this.#snapshotWriter.close()
    await this.#state.close()
  }

  /**
   * Changes or deletes a collection.
   * @throws Problem `STATE_UNAVAILABLE`, `LOG_UNAVAILABLE`: the change is not applied; `OUTCOME_UNKNOWN`: it may have
   * been applied, or may still be. Also throws what `edit` throws.
   */
  #change(id: string, edit: CollectionEdit): Promise<CollectionChange> {
    if (this.#state.catchUp) return this.#changeShared(id, edit)
    return this.#queue.run(async () => {
      if (this.#settling) throw errors.STATE_UNAVAILABLE(undefined, { headers: { 'retry-after': '1' } })
      const change = this.#computeChange(id, await this.#state.get(id), edit)
      if (change.after === change.before) return change
      await this.#snapshotWriter.runWithoutWrites(id, () => this.#applyChange(change))
      await this.#onChange(id, change.after)
      return change
    })
  }

  /**
   * Changes a collection that other nodes change too. If `edit` refuses or changes nothing, the reason may be that this
   * node has not applied an earlier change yet. So `edit` runs again after `catchUp`, and only that result counts.
   */
  async #changeShared(id: string, edit: CollectionEdit): Promise<CollectionChange> {
    for (let isCurrent = false; ;) {
      const before = await this.#state.get(id)
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
      await this.#state.catchUp!()
      isCurrent = true
    }
  }

  /** Writes a change; false if another change came first. That change is visible here by then. */
  async #tryWrite(change: CollectionChange): Promise<boolean> {
    try {
      await this.#write(change)
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

  /**
   * Writes a change durably.
   * @throws Problem `STATE_UNAVAILABLE`; `OUTCOME_UNKNOWN`, after which the outcome is determined in the background
   */
  async #applyChange(change: CollectionChange): Promise<void> {
    try {
      await this.#write(change)
    } catch (fault) {
      if ((fault as { code?: string }).code !== errors.OUTCOME_UNKNOWN.code) throw fault
      // If only the reply was lost, this determines the outcome at once.
      if (await this.#settle(change).catch(() => false)) return
      this.#settling = this.#settleLater(change)
      throw fault
    }
  }

  async #write({ id, before, after }: CollectionChange): Promise<void> {
    if (after) await this.#state.put(after, before)
    else await this.#state.delete(id, before)
  }

  async #settleLater(change: CollectionChange): Promise<void> {
    const { signal } = this.#closing
    const delays = createBackOff()
    const { id, after } = change
    await pause(delays.next(), signal)
    // While the state is unavailable, it reports that itself.
    await retry(
      async () => {
        const isWritten = await this.#snapshotWriter.runWithoutWrites(id, () => this.#settle(change))
        await this.#onChange(id, isWritten ? after : await this.#state.get(id))
      },
      { signal, delays },
    )
    this.#settling = undefined
  }

  /**
   * Repeats a change that may have been applied or may still be in flight. The write names the revision that it
   * replaces, so it takes effect once, however often it arrives.
   * @returns false if the collection has another revision
   */
  async #settle({ id, before, after }: CollectionChange): Promise<boolean> {
    const now = await this.#state.get(id)
    if (after && now?.revision === after.revision) return true
    const isDeleted = !after && !now
    if (!isDeleted && now?.revision !== before?.revision) return false
    await this.#write({ id, before: now, after })
    return true
  }

  #createRevision(before: Collection | undefined): number {
    // The time in microseconds, so that no revision is used twice, even after a restart. It is higher than the previous
    // revision, which another machine with a faster clock may have created. The digits below the millisecond are random,
    // because two nodes may create the same collection in the same millisecond.
    const minRevision = Math.max(this.#lastRevision, before?.revision ?? 0) + 1
    return (this.#lastRevision = Math.max(minRevision, Date.now() * 1000 + randomInt(1000)))
  }
}

function requireCollection(id: string, collection: Collection | undefined): Collection {
  if (!collection) throw errors.COLLECTION_NOT_FOUND(id)
  return collection
}
