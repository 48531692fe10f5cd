import type { Preconditions } from '@influencer-stats/runtime/conditions'
import type { LevelShare } from '@influencer-stats/runtime/level-health'
import type { CollectionPatch } from './collections.ts'
import type { Campaign } from './core/campaign.ts'
import type { Point } from './core/history-points.ts'
import type { Snapshot } from './core/video-numbers.ts'
import type { PreparedReply } from './core/prepared-reply.ts'
import type { UpstreamState } from './core/upstream-state.ts'
import type { VideoDetails } from './core/video-details.ts'
import type { NodeState } from './node-state.ts'
import type { CollectionRow, OverviewPage, OverviewQuery } from './overview.ts'
import type { Collection, CollectionVersion, VideoRow } from './state/stats-state.ts'

/** What threads ask of main, which owns the state and the poller. */
export type StatsMainMessage = {
  get(id: string): Collection | undefined
  list(after: string, limit: number): Collection[]
  snapshot(id: string): Snapshot | undefined
  history(id: string, from: number, to: number, limit: number): Point[]
  videos(ids: readonly string[]): (VideoDetails | undefined)[]
  put(
    id: string,
    videos: readonly string[],
    campaign?: Campaign,
    condition?: Preconditions,
  ): { collection: Collection; created: boolean }
  patch(id: string, patch: CollectionPatch, condition?: Preconditions): Collection
  delete(id: string, condition?: Preconditions): boolean
  addVideo(id: string, video: string, condition?: Preconditions): { collection: Collection; created: boolean }
  removeVideo(id: string, video: string, condition?: Preconditions): Collection
  overviewPage(query: OverviewQuery): OverviewPage
  overviewOne(id: string, withChange: boolean): CollectionRow | undefined
  saveSnapshot(collection: CollectionVersion, snapshot: Snapshot): void
  saveVideos(rows: readonly VideoRow[]): void
  /** The poller's reply for a collection that the thread has no reply for. */
  poll(id: string): PreparedReply | undefined
  pollByVideo(id: string): PreparedReply | undefined
  /** Keeps the count of units used: see `QuotaMeter`. */
  saveUsage(): void
  /** Returns the state of the API, as the poller sees it. */
  upstream(): UpstreamState
  /** How this node stands to the others; nothing where it runs alone. */
  node(): NodeState | undefined
}

/** A collection's ready-made reply; nothing when it has none any more. */
export type ReplyUpdate = readonly [id: string, reply: PreparedReply | undefined]

/** What main tells all threads. */
export type StatsThreadMessage = {
  publish(updates: readonly ReplyUpdate[]): void
}

/** What a thread is started with. */
export interface StatsSharedState {
  /** What all threads count and see: see `QuotaMeter`. */
  readonly meter: SharedArrayBuffer
  /** The thread's part in the database, where the state is one. */
  readonly share?: LevelShare
  /** All ready-made replies, where the poller makes them. */
  readonly replies: readonly ReplyUpdate[]
}
