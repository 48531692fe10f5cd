import type { LiveTable, LevelManifest } from './level-manifest.ts'
import type { DamagedPart } from './level-table.ts'

/** One case of damage in a folder. */
export interface Finding {
  /** Relative to the data folder. */
  readonly file: string
  readonly problem: string
  readonly block?: DamagedPart['block']
}

export interface VerifyOptions {
  /** Maximum bytes of tables to read. */
  readonly maxTableBytes: number
  /** Time limit (ms). */
  readonly maxTableMs: number
  /** Key of the row that the database must have if it has others. */
  readonly ownKey?: Buffer | undefined
}

/** Result of a check of a folder. */
export interface FolderVerification {
  readonly findings: readonly Finding[]
  /** Changes that a power cut lost, because they were not synced. */
  readonly lostChanges: number
  /** Tables that were not read. */
  readonly unread: readonly LiveTable[]
  readonly manifest: LevelManifest | undefined
  /** Logs to which writes have failed. */
  readonly failedLogs: readonly string[]
  /**
   * Set if the manifest ends in a record torn by a power cut. It must be truncated there, because LevelDB cannot read
   * past it.
   */
  readonly manifestEnd: { readonly file: string; readonly bytes: number } | undefined
}

/** Limits for a check that reads everything. */
export const UNLIMITED_OPTIONS: VerifyOptions = { maxTableBytes: Infinity, maxTableMs: Infinity }
