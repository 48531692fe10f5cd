import type { LogPosition } from '@influencer-stats/log/log'

/** An import that has begun in the log and has not ended. Its pieces are stored apart from the catalog. */
export interface OpenImport {
  readonly id: string
  /** Kind of the entry with which it began. Older versions did not store it. */
  readonly kind?: number | undefined
  readonly replace: boolean
  /** True if the import may contain no price. */
  readonly mayBeEmpty: boolean
  /** Maximum number of prices. */
  readonly most: number
  /** Number of pieces received. */
  readonly pieces: number
  /** The time of the import's last entry in the log, by the log's clock (ms since 1970). */
  readonly at: number
}

/** The position in the log of a node's catalog. Each change writes it. */
export interface LogCheckpoint {
  /** All entries up to here are applied. Undefined at the log's beginning. */
  readonly position?: LogPosition
  /** Number of entries after `position` that are already applied. */
  readonly made: number
  /** Sequence of the last of these entries. */
  readonly madeSeq?: number | undefined
  /** The boot id of the machine at this write, if the system has one; `clean` if all data is on the disk. */
  readonly boot: string | undefined
  readonly open?: OpenImport | undefined
}
