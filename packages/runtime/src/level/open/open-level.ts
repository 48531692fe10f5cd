import { Level, type DatabaseOptions } from 'level'
import { accessSync, constants, mkdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { StartError } from '../../errors/common-errors.ts'
import { Utf8Level } from '../utf8-level.ts'
import { createLockedError, isLockError } from '../integrity/lock-error.ts'
import { hasLevelData, listLevel } from '../files/level-files.ts'
import type { OwnRow } from '../integrity/own-row.ts'
import type { FolderVerification } from '../integrity/folder-verification.ts'
import { readFormat, syncFolder, writeFormat, type DataFormat } from '../data-format.ts'

export interface LevelOptions<K = string, V = string> extends DatabaseOptions<K, V> {
  /** The service that the data belongs to. */
  readonly service: string
  /** Version of the data layout. */
  readonly format: number
  /**
   * Upgrades by version: each changes data of its version to the next version. A kill, a power cut or a full disk may
   * interrupt an upgrade. The next opening runs it again from its beginning, on the data that the first run left. So an
   * upgrade must write one batch, or detect the parts that are done. It need not sync.
   */
  readonly upgrades?: Readonly<Record<number, (db: Level<K, V>) => Promise<void>>>
  /** True if the service builds the data from the log of a cluster, and can rebuild it. */
  readonly isReplica?: boolean | undefined
  /** Row that exists if any other row exists: without it, the data is damaged. A replica without it is cleared. */
  readonly ownRow?: Omit<OwnRow, 'rebuild'> | undefined
}

/** An open database and the result of the check before its opening. */
export interface OpenedLevel<K, V> {
  readonly db: Level<K, V>
  /** `undefined` if no check was needed: the folder is new, or this process already has it open. */
  readonly verification: FolderVerification | undefined
  /** True if this process already has the folder open and watches its files. */
  readonly isShared: boolean
  /** True if a replica had rows without its own row. The database is empty now. */
  readonly wasCleared: boolean
}

/** Number of open handles of this thread, by folder. */
const handles = new Map<string, number>()

/**
 * Opens LevelDB in `<folder>/level`. Keys and values are UTF-8 strings unless the options set other encodings. A folder
 * belongs to one process. Its threads share one handle, with the options of the first opening. The main thread opens
 * first, and closes last, after its threads have ended: otherwise the process crashes.
 *
 * @throws StartError `DATA_UNWRITABLE`, `DATA_FOREIGN`, `DATA_FORMAT_DAMAGED`, `DATA_NEWER`, `DATA_OLDER`,
 * `DATA_DAMAGED`, `DATA_LOCKED`, `DATA_UNREADABLE`, `DATA_UPGRADE_FAILED`
 */
export async function openLevel<K = string, V = string>(
  folder: string,
  options: LevelOptions<K, V>,
): Promise<Level<K, V>> {
  return (await openVerifiedLevel(folder, options)).db
}

/**
 * Like `openLevel`, but also returns the result of the check.
 * @param isOpenInProcess true if another thread of this process has already checked and opened the folder
 */
export async function openVerifiedLevel<K = string, V = string>(
  folder: string,
  { service, format, upgrades = {}, isReplica = false, ownRow, ...options }: LevelOptions<K, V>,
  isOpenInProcess = false,
): Promise<OpenedLevel<K, V>> {
  const location = join(folder, 'level')
  const found = prepareFolder(folder, { service, format })
  const isNew = found.from === 0 && !hasOpened(location)
  const isShared = isOpenInProcess || handles.has(location)
  const oldest = isNew ? format : found.from || found.format
  for (let version = oldest; version < format; version++) {
    if (upgrades[version]) continue
    throw new StartError(
      'DATA_OLDER',
      `${service}: data folder ${folder} has format ${version}, which this version cannot upgrade to ${format}`,
    )
  }
  let verification: FolderVerification | undefined
  let wasCleared = false
  let db: Level<K, V>
  try {
    // The check must come first: a `Level` opens itself, and LevelDB then deletes files that it considers
    // obsolete.
    if (!isNew && !isShared) {
      // The import is dynamic, because only the main thread checks.
      const { assertSound } = await import('../integrity/assert-sound.ts')
      const hasRow = ownRow && !isReplica && oldest >= ownRow.since
      verification = await assertSound(folder, service, isReplica, hasRow ? ownRow.key : undefined)
    }
    db = new Utf8Level<K, V>(location, { multithreading: true, createIfMissing: isNew, ...options })
    await openOrRecreate(db, isNew)
  } catch (error) {
    throw explain(error, folder, service)
  }
  handles.set(location, (handles.get(location) ?? 0) + 1)
  db.once('closed', () => releaseHandle(location))
  try {
    // LevelDB renames `CURRENT`, but does not sync the folder.
    syncFolder(location)
    for (let version = oldest; version < format; version++) {
      // From now on older versions refuse the folder, and this version knows that the upgrade is incomplete.
      writeFormat(folder, { service, format: version + 1, from: version })
      await upgrades[version]!(db)
      await flush(db)
      writeFormat(folder, { service, format: version + 1 })
    }
    if (!isShared && ownRow) wasCleared = await initializeOwnRow(db, ownRow, isReplica)
    if (found.from === 0 || found.sum === undefined) writeFormat(folder, { service, format })
  } catch (error) {
    await db.close()
    const reason = error instanceof Error ? error.message : error
    throw new StartError(
      'DATA_UPGRADE_FAILED',
      `${service}: data folder ${folder} could not be upgraded to format ${format} (${reason})`,
    )
  }
  return { db, verification, isShared, wasCleared }
}

/**
 * Writes the first value of a missing own row, or clears a replica without the row. A database that is not a replica
 * can lack the row only if it has no entries, or had a format before that row: `assertSound` refuses all others.
 * @returns true if a replica had entries without the row
 */
async function initializeOwnRow(
  db: Level<any, any>,
  { key, first }: Omit<OwnRow, 'rebuild'>,
  isReplica: boolean,
): Promise<boolean> {
  if ((await db.get<Buffer, Buffer>(key, BYTE_ENCODING)) !== undefined) return false
  if (!isReplica) {
    if (first !== undefined) await db.put<Buffer, string>(key, first, { ...TEXT_ENCODING, sync: true })
    return false
  }
  const [any] = await db.keys({ limit: 1 }).all()
  await db.clear()
  return any !== undefined
}

const BYTE_ENCODING = { keyEncoding: 'buffer', valueEncoding: 'buffer' } as const
const TEXT_ENCODING = { keyEncoding: 'buffer', valueEncoding: 'utf8' } as const

function releaseHandle(location: string): void {
  const left = handles.get(location)! - 1
  if (left > 0) handles.set(location, left)
  else handles.delete(location)
}

/**
 * A key that no service uses. Nearly all keys are UTF-8, which never contains this byte. Only internal keys of kv begin
 * with it, and they are longer.
 */
export const NO_KEY = Buffer.of(0xff)

/**
 * Flushes the database. Resolves when all writes are in synced tables and a new log has begun. `compactRange` begins
 * with a flush, for any range.
 */
export async function flush(db: Level<any, any>): Promise<void> {
  await db.compactRange<Buffer>(NO_KEY, NO_KEY, { keyEncoding: 'buffer' })
  await assertWritten(db)
}

/**
 * Rejects if LevelDB could not write in the background. `compactRange` does not report that, but the next write does.
 */
export async function assertWritten(db: Level<any, any>): Promise<void> {
  await db.del<Buffer>(NO_KEY, { keyEncoding: 'buffer', sync: true })
}

/**
 * Creates the folder, or reads its format.
 * @throws StartError if this service or this version cannot use the folder
 */
function prepareFolder(folder: string, own: DataFormat): DataFormat {
  const { service, format } = own
  let found: DataFormat | undefined
  try {
    mkdirSync(folder, { recursive: true })
    accessSync(folder, constants.W_OK)
    found = readFormat(folder, service, format, hasLevelData(folder))
    if (!found) writeFormat(folder, (found = { service, format, from: 0 }))
  } catch (error) {
    if (error instanceof StartError) throw error
    const { code } = error as NodeJS.ErrnoException
    const reason = code === 'EROFS' ? 'is on a read-only disk' : 'cannot be written'
    throw new StartError('DATA_UNWRITABLE', `${service}: data folder ${folder} ${reason} (${code})`)
  }
  if (found.format > format) {
    throw new StartError(
      'DATA_NEWER',
      `${service}: data folder ${folder} has format ${found.format}; this version knows ${format}`,
    )
  }
  return found
}

/**
 * True if LevelDB has opened the folder completely at least once. Only then tables exist, or `CURRENT` names a manifest
 * other than the first.
 */
function hasOpened(location: string): boolean {
  if (listLevel(location).tables.size > 0) return true
  try {
    const current = readFileSync(join(location, 'CURRENT'), 'utf8')
    return current !== '' && current !== 'MANIFEST-000001\n'
  } catch (error) {
    return (error as NodeJS.ErrnoException).code !== 'ENOENT'
  }
}

async function openOrRecreate(db: Level<any, any>, isNew: boolean): Promise<void> {
  try {
    await db.open()
  } catch (error) {
    if (!isNew || isLockError(error)) throw error
    // LevelDB does not sync its first files. A power cut may leave files that cannot be opened, but these contain no
    // data.
    await Level.destroy(db.location)
    await db.open()
  }
}

function explain(error: unknown, folder: string, service: string): Error {
  if (error instanceof StartError) return error
  const { cause } = error as { cause?: { message?: string } }
  if (isLockError(error)) return createLockedError(service, folder)
  return new StartError(
    'DATA_UNREADABLE',
    `${service}: data folder ${folder} cannot be opened (${cause?.message ?? error})`,
  )
}
