import type { Preconditions } from '@influencer-stats/runtime/conditions'
import type { LevelShare } from '@influencer-stats/runtime/level-health'
import type { CollectionPatch } from './campaigns/collections.ts'
import type { Campaign } from './core/campaign.ts'
import type { Point } from './core/history-points.ts'
import type { Snapshot } from './core/video-numbers.ts'
import type { PreparedReply } from './core/prepared-reply.ts'
import type { UpstreamState } from './core/upstream-state.ts'
import type { VideoDetails } from './core/video-details.ts'
import type { NodeState } from './cluster/node-state.ts'
import type { CollectionRow, OverviewPage, OverviewQuery } from './campaigns/overview.ts'
import type { Collection, CollectionVersion, VideoRow } from './state/stats-state.ts'

/** Requests of serving threads to the main thread, which owns the state and the poller. */
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
  /** Returns the poller's reply. A thread requests it if it has no prepared reply for the collection. */
  poll(id: string): PreparedReply | undefined
  /** Returns the reply with each video's numbers. */
  pollByVideo(id: string): PreparedReply | undefined
  /** Persists the count of used units: see `QuotaMeter`. */
  saveUsage(): void
  /** Returns the state of the API, as the poller sees it. */
  upstream(): UpstreamState
  /** Returns the state of this node in its cluster; undefined if it is standalone. */
  node(): NodeState | undefined
}

/** A collection's prepared reply; undefined if it no longer has one. */
export type ReplyUpdate = readonly [id: string, reply: PreparedReply | undefined]

/** Messages of the main thread to all serving threads. */
export type StatsThreadMessage = {
  publish(updates: readonly ReplyUpdate[]): void
}

/** Data that a thread receives at its start. */
export interface StatsSharedState {
  /** Memory of the counters that all threads share: see `QuotaMeter`. */
  readonly meter: SharedArrayBuffer
  /** The thread's share of the database, if the state is a database. */
  readonly share?: LevelShare
  /** All prepared replies; empty with any cache other than `poller`. */
  readonly replies: readonly ReplyUpdate[]
}
