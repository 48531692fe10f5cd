import type { EntryBody } from '@influencer-stats/log/log'
import type { UpstreamOutage } from '../core/upstream-state.ts'
import type { VideoNumbers } from '../core/video-numbers.ts'
import type { QuotaUsage } from '../core/quota-budget.ts'
import type { ExportLine } from '../core/export-line.ts'
import { isDurable, type RecordChange } from '../core/record-kinds.ts'
import type { Collection, SnapshotRow, TrashedCollection, VideoRow } from './stats-state.ts'

/** Kind of the log entries that contain changes, as JSON. */
export const CHANGE_KIND = 1

/** Result of a call to YouTube. */
export interface FetchedVideos {
  readonly ids: readonly string[]
  readonly found: readonly VideoNumbers[]
  /** Time of the call by the poller's clock (ms since 1970). */
  readonly asOf: number
  /** Time since the call (ms), measured by the poller, because the clock of another machine may differ. */
  readonly age: number
  /** Time between two refreshes (ms). */
  readonly interval?: number
}

/** A look-up of a node that does not poll. */
export interface ForwardedLookup {
  /** Names the reply. */
  readonly request: string
  /** Method of `SideCaller`. */
  readonly method: 'findVideos' | 'findChannel' | 'findPlaylist'
  readonly args: readonly unknown[]
}

/** Reply of the polling node: the value of the method, or the detail of an `UPSTREAM_UNAVAILABLE`. */
export interface LookupReply {
  readonly request: string
  readonly value?: unknown
  readonly fault?: string
}

/**
 * Source of a poller's data. Every node ignores the data if this is not the log's source. Changes of older versions have
 * no source and are applied.
 */
interface FromSource {
  readonly from?: string
}

/**
 * Content of a log entry. Every node writes `put`, `delete`, `trash`, `restore`, `import`, `source`, `wanted`, `lookup`, and
 * `records` of kinds without a source; only the poller writes the others.
 */
export type StatsChange =
  /** `before`: the revision that the change replaces. If the collection has another one, the change is not applied. */
  | { readonly type: 'put'; readonly collection: Collection; readonly before?: number }
  /** Deletes for good. `trashed`: revision of the collection in the trash; with another one this is not applied. */
  | { readonly type: 'delete'; readonly id: string; readonly before?: number; readonly trashed?: number }
  | { readonly type: 'trash'; readonly collection: TrashedCollection; readonly before: number }
  /** `trashed`: revision in the trash; with another one this is not applied. */
  | { readonly type: 'restore'; readonly collection: Collection; readonly trashed: number }
  /** `from` is present if a kind has a source. */
  | ({ readonly type: 'records'; readonly rows: readonly RecordChange[] } & FromSource)
  /** Lines of an export. A collection replaces only one with an earlier revision. */
  | { readonly type: 'import'; readonly lines: readonly ExportLine[] }
  | ({ readonly type: 'snapshots'; readonly rows: readonly SnapshotRow[] } & FromSource)
  | ({ readonly type: 'videos'; readonly rows: readonly VideoRow[] } & FromSource)
  | ({ readonly type: 'deleteVideos'; readonly ids: readonly string[] } & FromSource)
  | ({ readonly type: 'deletePoints'; readonly id: string; readonly times: readonly number[] } & FromSource)
  /** Sets the log's source. `before`: the source that it replaces. If the log has another one, this is not applied. */
  | { readonly type: 'source'; readonly source: string; readonly before?: string | undefined }
  | { readonly type: 'usage'; readonly usage: QuotaUsage }
  /** A read waits for the first numbers of a collection. Nodes do not store this. */
  | { readonly type: 'wanted'; readonly id: string }
  /** A person on this node entered something that only YouTube knows. Nodes do not store this. */
  | { readonly type: 'lookup'; readonly lookup: ForwardedLookup }
  /** Reply to a `lookup`. Nodes do not store it. */
  | ({ readonly type: 'lookedUp'; readonly reply: LookupReply } & FromSource)
  /** Result of a call. Every node publishes the numbers to its threads. Nodes do not store it. */
  | ({ readonly type: 'asked' } & FetchedVideos & FromSource)
  /** These videos have no numbers because a call failed; without videos, all calls fail. Nodes do not store this. */
  | ({
      readonly type: 'failed'
      readonly ids: readonly string[]
      readonly detail: string
      readonly outage?: UpstreamOutage
    } & FromSource)

/** Changes that a standalone service syncs to the disk. All others are repeated by later calls to YouTube. */
const DURABLE_TYPES: ReadonlySet<StatsChange['type']> = new Set([
  'put',
  'delete',
  'trash',
  'restore',
  'import',
  'source',
])

/** True if a standalone service syncs a change to the disk. */
export const isDurableChange = (change: StatsChange): boolean =>
  change.type === 'records' ? change.rows.some(({ kind }) => isDurable(kind)) : DURABLE_TYPES.has(change.type)

export const encodeChange = (change: StatsChange): Buffer => Buffer.from(JSON.stringify(change))

/** Returns the body of an entry. Only a cluster encodes it. */
export const toEntryBody = (value: StatsChange): EntryBody => ({ value, encode: () => encodeChange(value) })

export const decodeChange = (body: Buffer): StatsChange => JSON.parse(body.toString())
