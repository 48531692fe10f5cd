import { createWriteStream } from 'node:fs'
import { rename, rm } from 'node:fs/promises'
import { dirname } from 'node:path'
import { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { createRequester } from '../client/service-client.ts'
import { syncFolder } from '../level/data-format.ts'
import type { Backup } from './backup-format.ts'
import { verifyBackup } from './restore-backup.ts'

/** Mode of a backup file, which contains all data, secrets included. */
const OWNER_ONLY_MODE = 0o600

/**
 * Backs up a running service to a file. The file gets its name only after it is complete and synced, and after it was
 * read and verified.
 * @throws ServiceError if the service refuses; StartError `BACKUP_DAMAGED` if its reply ends early
 */
export async function saveBackup(url: string, token: string, file: string): Promise<Backup> {
  const reply = await createRequester(url, { token })('GET', '/backup')
  const draft = `${file}.${process.pid}`
  try {
    await pipeline(
      Readable.fromWeb(reply.body as never),
      createWriteStream(draft, { flush: true, mode: OWNER_ONLY_MODE }),
    )
    const backup = await verifyBackup(draft)
    await rename(draft, file)
    syncFolder(dirname(file))
    return backup
  } catch (error) {
    await rm(draft, { force: true })
    throw error
  }
}
