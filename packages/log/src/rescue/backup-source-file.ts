import type { BackupHead, ClusterHead } from '@influencer-stats/runtime/backup-format'
import { readBackupFile, verifyBackup } from '@influencer-stats/runtime/restore-backup'
import { StartError } from '@influencer-stats/runtime/errors'
import { createStandaloneError, type PreparedSnapshot, type RescueSource } from './rescue-source.ts'

/**
 * Reads the backup of a cluster in a file, and checks it.
 * @throws StartError `BACKUP_DAMAGED`, `BACKUP_FOREIGN`, `NODE_STANDALONE`
 */
export async function openBackupFile(service: string, file: string): Promise<RescueSource> {
  const { head } = await verifyBackup(file)
  const { position } = checkHead(service, file, head)
  const prepared: PreparedSnapshot = { position, read: () => readSnapshot(file), close: async () => {} }
  return { name: file, position, prepare: async () => prepared }
}

/** @throws StartError if a backup is not that of a cluster of this service */
export function checkHead(service: string, name: string, head: BackupHead): ClusterHead {
  if (head.service !== service)
    throw new StartError('BACKUP_FOREIGN', `${name} has the data of ${head.service}, not of ${service}`)
  if (head.backup === 2) return head
  throw createStandaloneError(service, name)
}

/** Yields the snapshot in a backup. */
async function* readSnapshot(file: string): AsyncGenerator<Buffer> {
  const pipe = new TransformStream<Buffer, Buffer>()
  const writer = pipe.writable.getWriter()
  const reading = readBackupFile(file, { onHead() {}, onEntry: (_, value) => writer.write(value) }).then(
    () => writer.close(),
    (error: unknown) => writer.abort(error),
  )
  yield* pipe.readable
  await reading
}
