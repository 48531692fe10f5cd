import type { LogPosition } from '@influencer-stats/log/log'

/** An import that has begun in the log and has not ended: what came of it lies beside the catalog. */
export interface OpenImport {
  readonly id: string
  readonly replace: boolean
  /** Whether it may be of no price at all. */
  readonly mayBeEmpty: boolean
  /** So many prices there may be. */
  readonly most: number
  /** How many pieces there are so far. */
  readonly pieces: number
  /** When the last one came, by the log's clock. */
  readonly at: number
}

/** How far in the log the catalog of a node is: written with each change. */
export interface LogCheckpoint {
  /** Nothing: at the log's beginning. */
  readonly position?: LogPosition
  /** So many entries behind that are made already. */
  readonly made: number
  /** The run of the machine on which that was written, or `clean`: all of it is on the disk. */
  readonly boot: string | undefined
  readonly open?: OpenImport | undefined
}
