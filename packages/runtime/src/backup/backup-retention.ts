/** Backups to keep. A backup is deleted if one of the limits is exceeded; the newest is never deleted. */
export interface BackupRetention {
  /** Maximum number of backups. */
  readonly count: number
  /** Maximum age of a backup (ms). */
  readonly age: number
}

/** Suffix of a folder until all its backups are complete. */
export const INCOMPLETE_SUFFIX = '.incomplete'

const FOLDER_PATTERN = /^(\d{4}-\d\d-\d\d)T(\d\d)(\d\d)(\d\d\.\d{3})Z(\.incomplete)?$/

/** Returns the name of the folder of the backups that begin at a time: `2026-05-01T063000.000Z`. */
export const toBackupFolder = (time: Date): string => time.toISOString().replaceAll(/(?<=T.*):/g, '')

/** Returns the time in such a name (ms since 1970); `undefined` for any other name. */
function parseTime(name: string): number | undefined {
  const [, date, hours, minutes, seconds] = FOLDER_PATTERN.exec(name) ?? []
  return date === undefined ? undefined : Date.parse(`${date}T${hours}:${minutes}:${seconds}Z`)
}

/**
 * Returns the folders to delete after a complete backup: those beyond the limits, and incomplete ones. Folders with
 * other names remain.
 * @param names content of the parent folder
 * @param newest name of the folder of the complete backup
 */
export function findBackupsToDelete(
  names: readonly string[],
  newest: string,
  { count, age }: BackupRetention,
): readonly string[] {
  const now = parseTime(newest)!
  const earlier = names
    .filter((name) => parseTime(name)! < now)
    .toSorted()
    .toReversed()
  const complete = earlier.filter((name) => !name.endsWith(INCOMPLETE_SUFFIX))
  return earlier.filter((name) => {
    const position = complete.indexOf(name)
    return position < 0 || position >= count - 1 || now - parseTime(name)! > age
  })
}
