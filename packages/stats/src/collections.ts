import type { Preconditions } from '@influencer-stats/runtime/conditions'
import { createBackOff } from '@influencer-stats/runtime/back-off'
import { randomInt } from 'node:crypto'
import { setTimeout as delay } from 'node:timers/promises'
import { ChangeQueue } from './change-queue.ts'
import { isReversed, applyPatch, type Campaign, type CampaignPatch } from './core/campaign.ts'
import { removeDuplicates, MAX_VIDEOS } from './core/ids.ts'
import type { Snapshot } from './core/video-numbers.ts'
import { errors } from './errors.ts'
import { requireCondition } from './require-condition.ts'
import { SnapshotWriter } from './snapshot-writer.ts'
import {
  ConflictError,
  type Collection,
  type CollectionVersion,
  type MaybePromise,
  type StatsState,
  type StateReader,
  type VideoRow,
} from './state/stats-state.ts'
import { pruneCollections, pruneVideos } from './retention.ts'

/**
 * Collections for routes and caches, independent of the thread that owns the state. A change throws the Problem
 * `CONDITION_FAILED` if the collection does not meet its condition.
 */
export interface Collections extends StateReader {
  /** @returns whether the collection is new; @throws Problem `INVALID_DATE_RANGE` */
  put(
    id: string,
    videos: readonly string[],
    campaign?: Campaign,
    condition?: Preconditions,
  ): Promise<{ collection: Collection; created: boolean }>
  /** Changes what it names. @throws Problem `COLLECTION_NOT_FOUND`, `INVALID_DATE_RANGE` */
  patch(id: string, patch: CollectionPatch, condition?: Preconditions): Promise<Collection>
  /** @returns whether there was one */
  delete(id: string, condition?: Preconditions): Promise<boolean>
  /** @returns whether the video is new; @throws Problem `COLLECTION_NOT_FOUND`, `COLLECTION_FULL` */
  addVideo(id: string, video: string, condition?: Preconditions): Promise<{ collection: Collection; created: boolean }>
  /** @throws Problem `COLLECTION_NOT_FOUND`, `VIDEO_NOT_IN_COLLECTION` */
  removeVideo(id: string, video: string, condition?: Preconditions): Promise<Collection>
  /**
   * Remembers numbers; the history gets a point if the sums changed. Nothing happens if the collection is gone, or is
   * another since its numbers were asked for. Waits for no state that fails: the newest numbers are kept for it.
   */
  saveSnapshot(collection: CollectionVersion, snapshot: Snapshot): Promise<void>
  /** Notes what is known of videos. */
  saveVideos(rows: readonly VideoRow[]): MaybePromise<void>
}

/** A change of a collection: `null` takes away what is said of its campaign. */
export interface CollectionPatch extends CampaignPatch {
  readonly videos?: readonly string[] | undefined
}

export interface CollectionsOwnerOptions {
  readonly state: StatsState
  /** How long a history goes back (ms). */
  readonly retention: number
  /** Called after a collection changed, before whoever changed it gets an answer. */
  readonly onChange?: (id: string, collection: Collection | undefined) => MaybePromise<void>
  /** Told what could not be done in the background, and why; it is tried again. */
  readonly onFault?: (fault: unknown, what: string) => void
  /** Whether histories are this one's to tidy at present: by default they are. */
  readonly shouldPrune?: () => boolean
}

/** One change of a collection; without `after` it is forgotten, without `before` it is new. */
interface CollectionChange {
  readonly id: string
  readonly before: Collection | undefined
  readonly after: Collection | undefined
}

/** A collection without its id and its versions. */
type CollectionFields = Omit<Collection, 'id' | 'revision' | 'created'>

const PRUNE_INTERVAL_MS = 3_600_000

function rethrow(fault: unknown): never {
  throw fault
}

/** What makes of a collection another, or nothing; what it gives back as it is, is no change. */
type CollectionEdit = (before: Collection | undefined) => CollectionFields | undefined

/**
 * The one owner of a state: changes it one step at a time, so that no two of them mix. A change whose outcome is unknown
 * is repeated until it is known, and until then there is no other. Where other machines change the state, too, it says in
 * which order, and a change that was overtaken is made anew.
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
    this.#snapshotWriter = new SnapshotWriter(state, (fault) => onFault(fault, 'numbers could not be kept'))
    const prune = () => this.prune().catch((fault) => onFault(fault, 'the histories could not be tidied'))
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

  /** The last known numbers of a page of `list`, in its order. */
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

  /** The point of the history that was the last one at a time (ms). */
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
      if (before.videos.length >= MAX_VIDEOS) throw errors.COLLECTION_FULL(`${MAX_VIDEOS} videos at most`)
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

  /** Thins every history, and forgets what is too old. */
  async prune(now = Date.now()): Promise<void> {
    await pruneCollections(this.#state, this.#retention, now)
    await pruneVideos(this.#state, this.#retention, now)
  }

  /** Waits for what was begun and closes the state. Idempotent. */
  async close(): Promise<void> {
    clearInterval(this.#pruneTimer)
    this.#closing.abort()
    await this.#queue.waitUntilIdle()
    await this.#settling
    await this.#snapshotWriter.close()
    await this.#state.close()
  }

  /**
   * Makes a collection another, or forgets it.
   * @throws Problem `STATE_UNAVAILABLE`, `LOG_UNAVAILABLE`: not done; `OUTCOME_UNKNOWN`: done, or may be yet
   */
  #change(id: string, step: CollectionEdit): Promise<CollectionChange> {
    if (this.#state.catchUp) return this.#changeShared(id, step)
    return this.#queue.run(async () => {
      if (this.#settling) throw errors.STATE_UNAVAILABLE(undefined, { headers: { 'retry-after': '1' } })
      const change = this.#computeChange(id, await this.#state.get(id), step)
      if (change.after === change.before) return change
      await this.#snapshotWriter.runWithout(id, () => this.#applyChange(change))
      await this.#onChange(id, change.after)
      return change
    })
  }

  /** Where others change it, too. What is no change, or is refused, is so by what anybody had changed before. */
  async #changeShared(id: string, step: CollectionEdit): Promise<CollectionChange> {
    for (let isCurrent = false; ;) {
      const before = await this.#state.get(id)
      let change: CollectionChange | undefined
      try {
        change = this.#computeChange(id, before, step)
      } catch (refusal) {
        if (isCurrent) throw refusal
      }
      if (change && change.after !== before) {
        if (!(await this.#isWritten(change))) continue
        await this.#onChange(id, change.after)
        return change
      }
      if (change && isCurrent) return change
      await this.#state.catchUp!()
      isCurrent = true
    }
  }

  /** Not if it was overtaken; what has overtaken it is seen here by then. */
  async #isWritten(change: CollectionChange): Promise<boolean> {
    try {
      await this.#write(change)
      return true
    } catch (fault) {
      if (fault instanceof ConflictError) return false
      throw fault
    }
  }

  #computeChange(id: string, before: Collection | undefined, step: CollectionEdit): CollectionChange {
    const next = step(before)
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

  /** Makes a change for good. @throws Problem `STATE_UNAVAILABLE`, `OUTCOME_UNKNOWN`, which is then found out */
  async #applyChange(change: CollectionChange): Promise<void> {
    try {
      await this.#write(change)
    } catch (fault) {
      if ((fault as { code?: string }).code !== errors.OUTCOME_UNKNOWN.code) throw fault
      // Where only the reply was lost, it is found out at once.
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
    for (let isKnown = false; !isKnown && !signal.aborted;) {
      await delay(delays.next(), undefined, { signal }).catch(() => {})
      try {
        const isWritten = await this.#snapshotWriter.runWithout(id, () => this.#settle(change))
        await this.#onChange(id, isWritten ? after : await this.#state.get(id))
        isKnown = true
      } catch {
        // Still out: the state has said so.
      }
    }
    this.#settling = undefined
  }

  /**
   * Makes a change that may have been made, and may still be on its way: what it replaces is named, so that it happens
   * once, however often it arrives. @returns false if something else is there
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
    // Microseconds, so that no revision is used twice, even after a restart. Another machine's clock may be ahead. The
    // digits below the millisecond are random: two nodes may create one collection in the same millisecond.
    const minRevision = Math.max(this.#lastRevision, before?.revision ?? 0) + 1
    return (this.#lastRevision = Math.max(minRevision, Date.now() * 1000 + randomInt(1000)))
  }
}

function requireCollection(id: string, collection: Collection | undefined): Collection {
  if (!collection) throw errors.COLLECTION_NOT_FOUND(id)
  return collection
}
