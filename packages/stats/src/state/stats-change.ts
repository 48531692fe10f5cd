import type { UpstreamOutage } from '../core/upstream-state.ts'
import type { VideoNumbers } from '../core/video-numbers.ts'
import type { QuotaUsage } from '../core/quota-budget.ts'
import type { Collection, SnapshotRow, VideoRow } from './stats-state.ts'

/** Kind of the log entries that contain changes, as JSON. */
export const CHANGE_KIND = 1

/** Result of a call. */
export interface FetchedVideos {
  readonly ids: readonly string[]
  readonly found: readonly VideoNumbers[]
  /** Time of the call (ms since 1970). */
  readonly asOf: number
  /** Time since the call (ms) by the poller's own clock: another machine's clock may differ. */
  readonly age: number
  /** Time between two refreshes (ms). */
  readonly interval?: number
}

/** Source of a poller's data. The data are ignored unless it is the log's source. Older versions state none. */
interface FromSource {
  readonly from?: string
}

/** Content of a log entry. Every node writes changes of collections and `wanted`; only the poller writes the others. */
export type StatsChange =
  /** `before`: the revision that it replaces. With another revision it is not applied. */
  | { readonly type: 'put'; readonly collection: Collection; readonly before?: number }
  | { readonly type: 'delete'; readonly id: string; readonly before?: number }
  | ({ readonly type: 'snapshots'; readonly rows: readonly SnapshotRow[] } & FromSource)
  | ({ readonly type: 'videos'; readonly rows: readonly VideoRow[] } & FromSource)
  | ({ readonly type: 'deleteVideos'; readonly ids: readonly string[] } & FromSource)
  | ({ readonly type: 'deletePoints'; readonly id: string; readonly times: readonly number[] } & FromSource)
  /** Makes a source the log's. `before`: the source that it replaces. With another source it is not applied. */
  | { readonly type: 'source'; readonly source: string; readonly before?: string | undefined }
  | { readonly type: 'usage'; readonly usage: QuotaUsage }
  /** A request waits for the first numbers of a collection. Not stored. */
  | { readonly type: 'wanted'; readonly id: string }
  /** Numbers that all nodes publish from now on. Not stored. */
  | ({ readonly type: 'asked' } & FetchedVideos & FromSource)
  /** First numbers of these videos are unavailable. Not stored. */
  | ({
      readonly type: 'failed'
      readonly ids: readonly string[]
      readonly detail: string
      readonly outage?: UpstreamOutage
    } & FromSource)

export const encodeChange = (change: StatsChange): Buffer => Buffer.from(JSON.stringify(change))

export const decodeChange = (body: Buffer): StatsChange => JSON.parse(body.toString())
