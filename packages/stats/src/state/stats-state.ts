import type { Campaign } from '../core/campaign.ts'
import type { Point } from '../core/history-points.ts'
import type { Snapshot } from '../core/video-numbers.ts'
import type { QuotaUsage } from '../core/quota-budget.ts'
import type { OtherSource } from '../core/sources.ts'
import type { VideoDetails } from '../core/video-details.ts'
import type { SharedLevel, SharedLevelOptions } from '@influencer-stats/runtime/shared-level'
import type { UpstreamTimer } from '@influencer-stats/runtime/upstream-timer'

/** A collection as it is between two changes. */
export interface CollectionVersion {
  readonly id: string
  /** Another number after every change; never the same twice, not even after a deletion. */
  readonly revision: number
}

/** A campaign's videos, and what is said of it. */
export interface Collection extends CollectionVersion, Campaign {
  /** Distinct, in the client's order. */
  readonly videos: readonly string[]
  /** The revision of the PUT that made the collection (us since 1970); undefined if version 0.2 made it. */
  readonly created?: number
}

/** A collection's numbers, and the point of its history, if they make one. */
export interface SnapshotRow {
  readonly id: string
  /** The collection's, whose numbers they are: where others change it, too, they count only while it is that one. */
  readonly revision?: number
  readonly snapshot: Snapshot
  readonly point?: Point
}

/** What is noted of a video at one time. */
export interface VideoRow {
  readonly id: string
  readonly details?: VideoDetails
  readonly point?: Point
}

/** The name of a video's history; no collection has such an id. */
export const toHistoryId = (video: string): string => `:${video}`

/** A change that is not made, because the collection is another than the one that it replaces. */
export class ConflictError extends Error {}

/** A value now, where it is at hand, or later. */
export type MaybePromise<T> = T | Promise<T>

/** What can be read of a state, on any thread. */
export interface StateReader {
  /** Nothing is ever at hand: every read is asked of another thread or another service. */
  readonly isRemote?: boolean
  get(id: string): MaybePromise<Collection | undefined>
  /** At most `limit` collections in ascending order of id, those after the id `after`. */
  list(after: string, limit: number): MaybePromise<Collection[]>
  /** The last known numbers. */
  getSnapshot(id: string): MaybePromise<Snapshot | undefined>
  /** What is known of videos besides their numbers. */
  getVideos(ids: readonly string[]): MaybePromise<(VideoDetails | undefined)[]>
  /** At most `limit` points from `from` to `to` (ms, both inclusive), ascending. A video's are under `historyOf` it. */
  getHistory(id: string, from: number, to: number, limit: number): MaybePromise<Point[]>
  /** The source whose numbers these are, where that may change while it is open: on a node. */
  getSource?(): string | undefined
}

export interface StateOptions extends Pick<SharedLevelOptions<string, string>, 'share' | 'log'> {
  /** The service's own data folder. */
  readonly folder: string
  /** Where the key-value service is, and the token that it needs of who changes something, if any. */
  readonly kvUri: string
  readonly kvToken: string
  /** How long that service may be silent (ms). */
  readonly timeout?: number
  /** Times every request to it. */
  readonly timer?: UpstreamTimer | undefined
  /** Told why that service cannot be used, once for each outage. */
  onOutage(cause: unknown): void
}

/**
 * Where collections, their last numbers and their history are kept. One owner writes, and of one collection one thing at
 * a time.
 */
export interface StatsState extends StateReader {
  /** What it is kept in, where the threads of this process share that. */
  readonly level?: SharedLevel
  /**
   * There where other machines change collections, too, and `put` and `delete` are refused with an `OvertakenError`.
   * Resolves once all that anybody had changed before is seen here. @throws Problem `LOG_UNAVAILABLE`
   */
  catchUp?(): Promise<void>
  /** The last known numbers of collections that follow each other in the order of ids, in one go. */
  getSnapshots(ids: readonly string[]): MaybePromise<(Snapshot | undefined)[]>
  /** The point that was the last one at a time (ms). */
  getPointAt(id: string, at: number): MaybePromise<Point | undefined>
  /**
   * Keeps a collection for good.
   * @param before what it replaces, as `get` gave it; nothing for a new one, which begins without numbers and history
   */
  put(collection: Collection, before?: Collection): MaybePromise<void>
  /** Forgets the collection, its numbers and its history. @param before the collection, as `get` gave it, if it is there */
  delete(id: string, before?: Collection): MaybePromise<void>
  /** Replaces the last numbers of collections and, where there is one, adds a point to the history. */
  putSnapshots(rows: readonly SnapshotRow[]): MaybePromise<void>
  /** Notes what is known of videos. */
  putVideos(rows: readonly VideoRow[]): MaybePromise<void>
  /** At most `limit` videos of which there are details, in ascending order of id, those after the id `after`. */
  listVideos(after: string, limit: number): MaybePromise<VideoDetails[]>
  /** Forgets what is known of videos, but for their histories. */
  deleteVideos(ids: readonly string[]): MaybePromise<void>
  /** Forgets the points of these times. */
  deletePoints(id: string, times: readonly number[]): MaybePromise<void>
  /**
   * Makes a source the one whose numbers are read and written from now on: those of the others are set apart until it is
   * theirs again. What was stored before any was named belongs to the first. States that end with the process need none.
   */
  useSource?(name: string): MaybePromise<void>
  /** Counts what is set apart. */
  countOtherSources?(): Promise<OtherSource[]>
  getUsage(): MaybePromise<QuotaUsage | undefined>
  putUsage(getUsage: QuotaUsage): MaybePromise<void>
  /** Idempotent. */
  close(): Promise<void>
}
