import type { UpstreamOutage } from '../core/upstream-state.ts'
import type { VideoNumbers } from '../core/video-numbers.ts'
import type { QuotaUsage } from '../core/quota-budget.ts'
import type { Collection, SnapshotRow, VideoRow } from './stats-state.ts'

/** The kind of the log's entries that are changes: JSON. */
export const CHANGE_KIND = 1

/** What a call has given. */
export interface FetchedVideos {
  readonly ids: readonly string[]
  readonly found: readonly VideoNumbers[]
  /** When it was made (ms since 1970). */
  readonly asOf: number
  /** How long ago that was (ms), by the poller's own clock: that of another machine may be apart. */
  readonly age: number
  /** Between two refreshes (ms). */
  readonly interval?: number
}

/** The source of what a poller has got: it counts only while that is the log's. Older versions named none. */
interface FromSource {
  readonly from?: string
}

/** What an entry of the log says. Changes of collections are any node's; all else is the poller's, but for `wanted`. */
export type StatsChange =
  /** `before`: the revision that it replaces, and nothing else. */
  | { readonly type: 'put'; readonly collection: Collection; readonly before?: number }
  | { readonly type: 'delete'; readonly id: string; readonly before?: number }
  | ({ readonly type: 'snapshots'; readonly rows: readonly SnapshotRow[] } & FromSource)
  | ({ readonly type: 'videos'; readonly rows: readonly VideoRow[] } & FromSource)
  | ({ readonly type: 'deleteVideos'; readonly ids: readonly string[] } & FromSource)
  | ({ readonly type: 'deletePoints'; readonly id: string; readonly times: readonly number[] } & FromSource)
  /** Makes a source the log's. `before`: the one that it replaces, and no other. */
  | { readonly type: 'source'; readonly source: string; readonly before?: string | undefined }
  | { readonly type: 'usage'; readonly usage: QuotaUsage }
  /** Somebody waits for the first numbers of a collection. Nothing is kept of it. */
  | { readonly type: 'wanted'; readonly id: string }
  /** What all nodes tell from now on. Nothing is kept of it. */
  | ({ readonly type: 'asked' } & FetchedVideos & FromSource)
  /** First numbers of these videos could not be had. Nothing is kept of it. */
  | ({
      readonly type: 'failed'
      readonly ids: readonly string[]
      readonly detail: string
      readonly outage?: UpstreamOutage
    } & FromSource)

export const encodeChange = (change: StatsChange): Buffer => Buffer.from(JSON.stringify(change))

export const decodeChange = (body: Buffer): StatsChange => JSON.parse(body.toString())
