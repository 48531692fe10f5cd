import type { ExportLine } from '../core/export-line.ts'
import type { Collection, CollectionVersion, TrashedCollection } from '../core/campaign.ts'
import type { Point } from '../core/history-points.ts'
import type { Snapshot } from '../core/video-numbers.ts'
import type { RecordChange, RecordKind, RecordRange, RecordValues, StatsRecord } from '../core/record-kinds.ts'
import type { QuotaUsage } from '../core/quota-budget.ts'
import type { OtherSource } from '../core/sources.ts'
import type { VideoDetails } from '../core/video-details.ts'
import type { SharedLevel, SharedLevelOptions } from '@influencer-stats/runtime/shared-level'
import type { UpstreamTimer } from '@influencer-stats/runtime/upstream-timer'

export type { Collection, CollectionVersion, TrashedCollection }

/** A collection's numbers, and the point that they add to its history, if any. */
export interface SnapshotRow {
  readonly id: string
  /** Revision of the collection to which the numbers belong. In a cluster they are applied only to this revision. */
  readonly revision?: number
  readonly snapshot: Snapshot
  readonly point?: Point
}

/** Data of a video to store. */
export interface VideoRow {
  readonly id: string
  readonly details?: VideoDetails
  readonly point?: Point
}

/** Returns the id of a video's history. No collection has such an id. */
export const toHistoryId = (video: string): string => `:${video}`

/**
 * A change that was not applied, because the collection is not in the version that the change replaces, or does not exist.
 */
export class ConflictError extends Error {}

/** A value, or a promise of it if it is not available synchronously. */
export type MaybePromise<T> = T | Promise<T>

/** Reads of a state, on any thread. */
export interface StateReader {
  /** True if no read is synchronous: every read goes to another thread or another service. */
  readonly isRemote?: boolean
  get(id: string): MaybePromise<Collection | undefined>
  /** Returns at most `limit` collections in ascending order of id, after the id `after`. */
  list(after: string, limit: number): MaybePromise<Collection[]>
  /** Returns the last known numbers. */
  getSnapshot(id: string): MaybePromise<Snapshot | undefined>
  /** Returns the details of videos. */
  getVideos(ids: readonly string[]): MaybePromise<(VideoDetails | undefined)[]>
  /**
   * Returns at most `limit` points from `from` to `to` (ms, both inclusive), ascending. `id` is that of a collection, or
   * for a video's history that of `toHistoryId`.
   */
  getHistory(id: string, from: number, to: number, limit: number): MaybePromise<Point[]>
  /** Returns the last point of a history at or before a time (ms). */
  getPointAt(id: string, at: number): MaybePromise<Point | undefined>
  /** Returns the values of records, in the order of the keys. */
  getRecords<Kind extends RecordKind>(
    kind: Kind,
    keys: readonly string[],
  ): MaybePromise<(RecordValues[Kind] | undefined)[]>
  /** Returns the records in a range, ascending by key. */
  listRecords<Kind extends RecordKind>(kind: Kind, range: RecordRange): MaybePromise<StatsRecord<Kind>[]>
  /**
   * Returns the selected source, or undefined before the first selection. Present if this process stores the state in a
   * local database (`level`). On a cluster node the source can change while the state is open.
   */
  getSource?(): string | undefined
}

/** Reads that a thread requests from the main thread if only that thread can access the state. */
export const READS = [
  'get',
  'list',
  'getSnapshot',
  'getVideos',
  'getHistory',
  'getPointAt',
  'getRecords',
  'listRecords',
] as const
export type StateReads = Pick<StateReader, (typeof READS)[number]>

export interface StateOptions extends Pick<SharedLevelOptions<string, string>, 'share' | 'log'> {
  /** Data folder of this service. */
  readonly folder: string
  /** Address of the service kv, and the token for changes. The token is empty if there is none. */
  readonly kvUri: string
  readonly kvToken: string
  /** Timeout of a request to kv (ms). */
  readonly timeout?: number
  /** Measures every request to kv. */
  readonly timer?: UpstreamTimer | undefined
  /** Called with the cause when kv is unavailable, once per outage. */
  onOutage(cause: unknown): void
}

/**
 * Store of collections, their last numbers and their history. In a process only one owner writes to it, with one write at
 * a time per collection.
 */
export interface StatsState extends StateReader {
  /** The database, if the threads of this process share one. */
  readonly level?: SharedLevel
  /**
   * Present if other nodes change collections too: then `put` and `delete` may throw `ConflictError`. Resolves once
   * this node has applied all earlier changes of all nodes.
   * @throws Problem `LOG_UNAVAILABLE`
   */
  catchUp?(): Promise<void>
  /** Returns the last known numbers of collections that are consecutive in the order of ids, in one read. */
  getSnapshots(ids: readonly string[]): MaybePromise<(Snapshot | undefined)[]>
  /**
   * Stores a collection durably.
   * @param before the replaced collection, as `get` returned it; undefined for a new one, which begins without numbers
   * and history. A deleted collection of this id is dropped.
   */
  put(collection: Collection, before?: Collection): MaybePromise<void>
  /**
   * Deletes a collection, or a deleted one, with its numbers, its history and its records.
   * @param before the collection, as `get` returned it, if it exists
   * @param trashed the deleted collection, if it must still be in the trash
   */
  delete(id: string, before?: Collection, trashed?: TrashedCollection): MaybePromise<void>
  /**
   * Moves a collection to the trash, durably. Its numbers, its history and its records remain.
   * @param before the collection, as `get` returned it
   */
  trash(trashed: TrashedCollection, before: Collection): MaybePromise<void>
  /** Moves a collection back from the trash, durably. */
  restore(collection: Collection, trashed: TrashedCollection): MaybePromise<void>
  /** Replaces the last numbers of collections, and adds their points to the history. */
  putSnapshots(rows: readonly SnapshotRow[]): MaybePromise<void>
  /** Stores details of videos and points of their histories. */
  putVideos(rows: readonly VideoRow[]): MaybePromise<void>
  /** Returns at most `limit` videos with details, in ascending order of id, after the id `after`. */
  listVideos(after: string, limit: number): MaybePromise<VideoDetails[]>
  /** Deletes the details of videos, but not their histories. */
  deleteVideos(ids: readonly string[]): MaybePromise<void>
  /** Deletes the points of these times. */
  deletePoints(id: string, times: readonly number[]): MaybePromise<void>
  /**
   * Writes records, all or none; durably, if a kind requires it. The kind `trash` has methods of its own. Either all kinds
   * of `changes` have a source or none. Only the poller writes those of a source; they belong to the current source.
   * @throws ConflictError if the collection of a record does not exist, or in a cluster if a record has another revision
   * than `before`
   */
  putRecords(changes: readonly RecordChange[]): MaybePromise<void>
  /**
   * Selects the source whose numbers are read and written from now on. Numbers of other sources are hidden until their
   * source is selected again. Numbers stored before the first selection belong to the first source. Absent for
   * states in memory, and on a cluster node, where the log selects the source.
   */
  useSource?(name: string): MaybePromise<void>
  /** Counts the data of the other sources. */
  countOtherSources?(): Promise<OtherSource[]>
  /**
   * Applies lines of an export, all or none. Present if the state is a database (`level`).
   * @throws Problem `LOG_UNAVAILABLE`, `OUTCOME_UNKNOWN`
   */
  importLines?(lines: readonly ExportLine[]): Promise<void>
  getUsage(): MaybePromise<QuotaUsage | undefined>
  putUsage(usage: QuotaUsage): MaybePromise<void>
  /** Idempotent. */
  close(): Promise<void>
}
