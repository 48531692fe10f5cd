import type { Level } from 'level'
import { createReadStream } from 'node:fs'
import { mkdir, readdir, rename, rm, rmdir, stat } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { StartError } from '../errors/common-errors.ts'
import { syncFolder, writeFormat, type DataFormat } from '../level/data-format.ts'
import { flush } from '../level/open/open-level.ts'
import { Utf8Level } from '../level/utf8-level.ts'
import {
  BackupDamagedError,
  readBackup,
  type Backup,
  type BackupEnd,
  type BackupHead,
  type BackupSink,
} from './backup-format.ts'

/** A batch is written when it exceeds this size (bytes). */
const MAX_BATCH_BYTES = 4_194_304

/**
 * Creates a data folder from a backup. A failure leaves no folder and no file. The next start of the service upgrades an
 * older format.
 * @throws StartError `BACKUP_DAMAGED`, `BACKUP_FOREIGN`, `BACKUP_OF_CLUSTER`, `DATA_THERE`
 */
export async function restoreBackup(service: string, file: string, folder: string): Promise<Backup> {
  // The file is read twice. The first read only checks it, so that a damaged backup creates no folder.
  const backup = await verifyBackup(file)
  const { head } = backup
  if (head.service !== service)
    throw new StartError('BACKUP_FOREIGN', `${service}: ${file} is a backup of ${head.service}`)
  if (head.backup === 2)
    throw new StartError(
      'BACKUP_OF_CLUSTER',
      `${service}: ${file} is a backup of a cluster: restore it with \`pnpm cluster rescue ${service} --from ${file} --cluster nats://HOST:4222\``,
    )
  if (await isNotEmpty(folder))
    throw new StartError('DATA_THERE', `${service}: ${folder} is not empty: stop the service and move the folder first`)
  const draft = `${folder}.restoring`
  await rm(draft, { recursive: true, force: true })
  const firstParent = await mkdir(dirname(draft), { recursive: true })
  try {
    await writeData(draft, file, { service, format: head.format })
    await rm(folder, { recursive: true, force: true })
    await rename(draft, folder)
  } catch (error) {
    await rm(draft, { recursive: true, force: true })
    if (firstParent !== undefined) await removeEmptyFolders(dirname(draft), firstParent)
    throw error
  }
  syncFolder(dirname(folder))
  return backup
}

/** Removes a folder and its parents up to `last`. Folders that are not empty remain. */
async function removeEmptyFolders(folder: string, last: string): Promise<void> {
  try {
    for (let one = folder; one.length >= last.length; one = dirname(one)) await rmdir(one)
  } catch {
    // Another program uses it.
  }
}

/** Writes the entries of a backup to a new data folder. */
async function writeData(folder: string, file: string, format: DataFormat): Promise<void> {
  // For the owner only, because some services store secrets.
  await mkdir(folder, { mode: 0o700 })
  const bytes = { keyEncoding: 'buffer', valueEncoding: 'buffer' } as const
  const db = new Utf8Level<Buffer, Buffer>(join(folder, 'level'), bytes)
  try {
    await db.open()
    await fill(db, file)
    await flush(db)
  } finally {
    await db.close()
  }
  writeFormat(folder, format)
  syncFolder(join(folder, 'level'))
}

async function fill(db: Level<Buffer, Buffer>, file: string): Promise<void> {
  let batch = db.batch()
  let size = 0
  function put(): Promise<void> {
    const full = batch
    batch = db.batch()
    size = 0
    return full.write()
  }
  await readBackupFile(file, {
    onHead() {},
    onEntry(key, value) {
      batch.put(key, value)
      return (size += key.length + value.length) > MAX_BATCH_BYTES ? put() : undefined
    },
  })
  await put()
}

/** Reads the backup in a file only to check it. @throws StartError `BACKUP_DAMAGED` */
export async function verifyBackup(file: string): Promise<Backup> {
  let head: BackupHead
  const end = await readBackupFile(file, { onHead: (found) => void (head = found), onEntry: () => undefined })
  return { head: head!, end }
}

/** Reads the backup in a file, and checks it. @throws StartError `BACKUP_DAMAGED` */
export async function readBackupFile(file: string, sink: BackupSink): Promise<BackupEnd> {
  const { size } = await stat(file)
  try {
    return await readBackup(createReadStream(file), sink, size)
  } catch (error) {
    if (!(error instanceof BackupDamagedError)) throw error
    throw new StartError('BACKUP_DAMAGED', `${file} is a damaged backup: ${error.message}`)
  }
}

async function isNotEmpty(folder: string): Promise<boolean> {
  try {
    return (await readdir(folder)).length > 0
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return false
    throw error
  }
}
