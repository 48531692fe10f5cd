import type { Collection, TrashedCollection } from './campaign.ts'
import type { RecordKind } from './record-kinds.ts'
import type { Point } from './history-points.ts'
import type { QuotaUsage } from './quota-budget.ts'
import type { VideoDetails } from './video-details.ts'
import type { Snapshot } from './video-numbers.ts'

/** First line of an export of stats. */
export const EXPORT_HEAD = { export: 'stats', format: 1 } as const

/** Line of an export. `source` is the origin of the numbers. */
export type ExportLine =
  /** The used quota of a day: the service that imports it shares this quota. */
  | { readonly type: 'usage'; readonly usage: QuotaUsage }
  | { readonly type: 'details'; readonly source: string; readonly details: VideoDetails }
  /** A point of the history of a collection or of a video. */
  | {
      readonly type: 'point'
      readonly source: string
      readonly collection?: string
      readonly video?: string
      readonly point: Point
    }
  /** A record. `source` is present if its kind has one. */
  | {
      readonly type: 'record'
      readonly source?: string
      readonly kind: RecordKind
      readonly key: string
      readonly value: object
    }
  /**
   * A collection, or one in the trash, with its last numbers of each source. Collections follow all other lines.
   */
  | {
      readonly type: 'collection'
      readonly collection: Collection | TrashedCollection
      readonly numbers: Readonly<Record<string, Snapshot>>
    }

export type CollectionLine = Extract<ExportLine, { type: 'collection' }>

export const isCollectionLine = (line: ExportLine): line is CollectionLine => line.type === 'collection'

export const isRecordLine = (line: ExportLine): line is Extract<ExportLine, { type: 'record' }> =>
  line.type === 'record'

/** Maximum size of an import request (bytes). A change of the log, which is at most 4 MiB, contains the whole request. */
export const MAX_IMPORT_BYTES = 2_097_152
