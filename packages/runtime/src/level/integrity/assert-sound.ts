import { truncateSync } from 'node:fs'
import { StartError } from '../../errors/common-errors.ts'
import { createLockedError } from './lock-error.ts'
import type { Finding, FolderVerification } from './folder-verification.ts'
import { verifyFolder } from './verify-folder.ts'

/**
 * Maximum bytes of tables that a start verifies before the service is ready: about 0.7 s if the system has them in
 * memory. The rest is verified later.
 */
const START_TABLE_BYTES = 536_870_912
/** Time limit of that check, for slow disks (ms). */
const START_TABLE_MS = 2_000

export const describeFinding = ({ file, problem }: Finding): string => `${file}: ${problem}`

/**
 * Checks a folder before LevelDB opens it. LevelDB deletes files and skips records that it does not understand.
 * @param isReplica true if the service builds the folder from a log, and can rebuild it
 * @param ownKey key of the service's own row: if this row is missing, other rows count as damage
 * @throws StartError `DATA_DAMAGED`, `DATA_LOCKED`
 */
export async function assertSound(
  folder: string,
  service: string,
  isReplica: boolean,
  ownKey?: Buffer,
): Promise<FolderVerification> {
  const verification = verifyFolder(folder, { maxTableBytes: START_TABLE_BYTES, maxTableMs: START_TABLE_MS, ownKey })
  const [first, ...more] = verification.findings
  if (!first) {
    if (verification.manifestEnd) truncateSync(verification.manifestEnd.file, verification.manifestEnd.bytes)
    return verification
  }
  // A file that another process is writing looks damaged.
  const { isLocked } = await import('./is-locked.ts')
  if (await isLocked(folder)) throw createLockedError(service, folder)
  const others = more.length > 0 ? ` (and ${more.length} more)` : ''
  const advice = isReplica
    ? `move the folder, and this node rebuilds it from the log`
    : `list all damage with \`pnpm data check ${folder}\`, salvage the rest with \`pnpm data repair ${folder}\``
  throw new StartError(
    'DATA_DAMAGED',
    `${service}: data folder ${folder} is damaged and was not changed: ${describeFinding(first)}${others}; ${advice}`,
  )
}
