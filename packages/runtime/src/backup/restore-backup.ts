import type { Level } from 'level'
import { createReadStream } from 'node:fs'
import { mkdir, readdir, rename, rm } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { StartError } from '../errors/common-errors.ts'
import { syncFolder, writeFormat } from '../level/data-format.ts'
import { flush } from '../level/open/open-level.ts'
import { Utf8Level } from '../level/utf8-level.ts'
import { BackupDamagedError, readBackup, type BackupEnd, type BackupHead, type BackupSink } from './backup-format.ts'

/** A batch is written when it exceeds this size (bytes). */
const MAX_BATCH_BYTES = 4_194_304

/**
 * Creates a data folder from a backup. A failure creates no data folder. The next start of the service upgrades an
 * older format.
 * @throws StartError `BACKUP_DAMAGED`, `BACKUP_FOREIGN`, `DATA_THERE`
 */
export async function restoreBackup(service: string, file: string, folder: string): Promise<BackupEnd> {
  let found: BackupHead | undefined
  // The file is read twice. The first read only checks it, so that a damaged backup creates no folder.
  const end = await readBackupFile(file, { onHead: (head) => (found = head), onEntry: () => undefined })
  if (found!.service !== service)
    throw new StartError('BACKUP_FOREIGN', `${service}: ${file} is a backup of ${found!.service}`)
  if (await isNotEmpty(folder))
    throw new StartError('DATA_THERE', `${service}: ${folder} is not empty: stop the service and move the folder first`)
  const draft = `${folder}.restoring`
  await rm(draft, { recursive: true, force: true })
  await mkdir(dirname(draft), { recursive: true })
  // For the owner only, because some services store secrets.
  await mkdir(draft, { mode: 0o700 })
  const bytes = { keyEncoding: 'buffer', valueEncoding: 'buffer' } as const
  const db = new Utf8Level<Buffer, Buffer>(join(draft, 'level'), bytes)
  try {
    await db.open()
    await fill(db, file)
    await flush(db)
  } finally {
    await db.close()
  }
  writeFormat(draft, { service, format: found!.format })
  syncFolder(join(draft, 'level'))
  await rm(folder, { recursive: true, force: true })
  await rename(draft, folder)
  syncFolder(dirname(folder))
  return end
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

async function readBackupFile(file: string, sink: BackupSink): Promise<BackupEnd> {
  try {
    return await readBackup(createReadStream(file), sink)
  } catch (error) {
    if (!(error instanceof BackupDamagedError)) throw error
    throw new StartError('BACKUP_DAMAGED', `${file} cannot be restored: ${error.message}`)
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
