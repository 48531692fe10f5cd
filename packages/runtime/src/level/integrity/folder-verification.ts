import type { LiveTable, LevelManifest } from '../files/level-manifest.ts'
import type { DamagedPart } from '../files/level-table.ts'

/** One case of damage in a folder. */
export interface Finding {
  /** Path relative to the data folder. */
  readonly file: string
  readonly problem: string
  readonly block?: DamagedPart['block']
}

export interface VerifyOptions {
  /** Maximum bytes of tables to read. */
  readonly maxTableBytes: number
  /** Time limit (ms). */
  readonly maxTableMs: number
  /** Key of the row that the database must have if it has other rows. */
  readonly ownKey?: Buffer | undefined
}

/** Result of a check of a folder. */
export interface FolderVerification {
  readonly findings: readonly Finding[]
  /** Number of changes that a power cut lost, because they were not synced. */
  readonly lostChanges: number
  /** Tables that the check did not read because of its limits. */
  readonly unread: readonly LiveTable[]
  readonly manifest: LevelManifest | undefined
  /** Names of logs to which writes have failed. */
  readonly failedLogs: readonly string[]
  /**
   * Set if the manifest ends in a record that a power cut has torn. The manifest must be truncated to `bytes` bytes,
   * because LevelDB cannot read past that record.
   */
  readonly manifestEnd: { readonly file: string; readonly bytes: number } | undefined
}

/** Limits for a check that reads everything. */
export const UNLIMITED_OPTIONS: VerifyOptions = { maxTableBytes: Infinity, maxTableMs: Infinity }
