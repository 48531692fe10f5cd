import type { LevelShare } from '@influencer-stats/runtime/level-health'
import type { ChangeName, ChangeResult } from './campaigns/collection-changes.ts'
import type { CampaignSource } from './core/campaign.ts'
import type { SourceName } from './core/follow/source-name.ts'
import type { LookedUpVideos } from './core/paste/preview.ts'
import type { Snapshot } from './core/video-numbers.ts'
import type { PreparedReply, StatsReading } from './core/prepared-reply.ts'
import type { UpstreamState } from './core/upstream-state.ts'
import type { NodeState } from './cluster/node-state.ts'
import type { CreatorPage, CreatorQuery } from './campaigns/creators/creator-selection.ts'
import type { CampaignCreators, CreatorDetails } from './campaigns/creators/creator.ts'
import type { OverviewPage, OverviewQuery } from './campaigns/overview/overview.ts'
import type { CollectionRow } from './campaigns/overview/overview-source.ts'
import type { ExportLine } from './core/export-line.ts'
import type { PostMethod } from './posts/posts.ts'
import type { ReportedUpdate } from './posts/reported-totals.ts'
import type { CollectionVersion, StateReads, VideoRow } from './state/stats-state.ts'

/** Requests of serving threads to the main thread, which owns the state and the poller. */
export type StatsMainMessage = StateReads & {
  /** @param requester `threadId` of the thread */
  change(requester: number, name: ChangeName, id: string, args: readonly unknown[]): ChangeResult
  changePosts(method: PostMethod, args: readonly unknown[]): unknown
  overviewPage(query: OverviewQuery): OverviewPage
  overviewOne(id: string, withChange: boolean): CollectionRow | undefined
  creatorPage(query: CreatorQuery): CreatorPage
  creatorDetails(id: string): CreatorDetails | undefined
  campaignCreators(id: string): CampaignCreators | undefined
  /** Applies lines of an export. Returns the number of collections that were not replaced, because they are newer. */
  importLines(lines: readonly ExportLine[]): number
  saveSnapshot(collection: CollectionVersion, snapshot: Snapshot): void
  saveVideos(rows: readonly VideoRow[]): void
  /** Returns the poller's reply. A thread requests it if it has no prepared reply for the collection. */
  poll(id: string): PreparedReply | undefined
  /** Returns the poller's numbers of a collection. */
  pollNumbers(id: string): StatsReading | undefined
  /** Finds out which ids are videos: see `VideoLookup`. */
  lookUpVideos(ids: readonly string[]): LookedUpVideos
  /** Finds a channel or a playlist: see `SourceLookup`. */
  findSource(source: SourceName): CampaignSource | undefined
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
  /** Not with the cache `poller`, whose replies contain the sums. */
  reported(updates: readonly ReportedUpdate[]): void
}

/** Data that a thread receives at its start. */
export interface StatsSharedState {
  /** Memory of the counters that all threads share: see `QuotaMeter`. */
  readonly meter: SharedArrayBuffer
  /** The thread's share of the database, if the state is a database. */
  readonly share?: LevelShare
  /** Memory of the state of the log, on a node of a cluster. */
  readonly logState?: SharedArrayBuffer | undefined
  /** All prepared replies; empty with any cache other than `poller`. */
  readonly replies: readonly ReplyUpdate[]
  /** Reported sums of all collections with posts; empty with the cache `poller`. */
  readonly reported: readonly ReportedUpdate[]
}
