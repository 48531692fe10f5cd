import { Utf8Level } from '../utf8-level.ts'
import { existsSync, mkdtempSync, rmSync, symlinkSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { isLockError } from './lock-error.ts'

/**
 * Returns true if another process has a folder open. Opens a temporary folder that contains only a link to the lock
 * file of the folder, so that LevelDB changes no data. Do not call this for a folder that this process has open: when a
 * process closes a lock file, the system releases its lock, even if the process has the file open a second time.
 */
export async function isLocked(folder: string): Promise<boolean> {
  const lock = resolve(folder, 'level', 'LOCK')
  if (!existsSync(lock)) return false
  const empty = mkdtempSync(join(tmpdir(), 'influencer-stats-lock-'))
  try {
    symlinkSync(lock, join(empty, 'LOCK'))
    const db = new Utf8Level(empty, { createIfMissing: false })
    await db.open().finally(() => db.close())
    return false
  } catch (error) {
    return isLockError(error)
  } finally {
    rmSync(empty, { recursive: true, force: true })
  }
}
