import type { LiveTable, Manifest } from './manifest.ts'
import type { DamagedPart } from './table.ts'

/** One thing that is wrong with a folder. */
export interface Finding {
  /** Relative to the data folder. */
  readonly file: string
  readonly problem: string
  readonly block?: DamagedPart['block']
}

export interface VerifyOptions {
  /** So many bytes of tables are read at most. */
  readonly maxTableBytes: number
  /** For so long at most (ms). */
  readonly maxTableMs: number
}

/** What a check of a folder found. */
export interface Verified {
  readonly findings: readonly Finding[]
  /** Changes that a power cut took: they were not synced. */
  readonly lostChanges: number
  /** Tables that were not read. */
  readonly unread: readonly LiveTable[]
  readonly manifest: Manifest | undefined
  /** Logs to which writes have failed. */
  readonly failedLogs: readonly string[]
  /** A manifest that ends in what a power cut left of a record: to be cut there, as LevelDB does not read over it. */
  readonly manifestEnd: { readonly file: string; readonly bytes: number } | undefined
}

/** For what has to read everything. */
export const WITHOUT_LIMIT: VerifyOptions = { maxTableBytes: Infinity, maxTableMs: Infinity }
