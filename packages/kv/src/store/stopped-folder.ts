import { findStoppedFolder, SILENT_LOG } from '@influencer-stats/runtime/stopped-folder'
import { toEntryLines } from '../lines/entry-lines.ts'
import { FIRST_KEY } from '../core/key-order.ts'
import { createLevelScan } from './level-scan.ts'
import { openKvLevel } from './level-store.ts'

const CACHE_MEGABYTES = 8

/**
 * Yields the entries of a stopped service or node as lines of NDJSON, without expired ones.
 * @param from data folder of kv, or of all services
 * @throws StartError `NO_DATA`, `DATA_LOCKED` if the service runs, and other errors of a start
 */
export async function* readStoppedFolder(from: string): AsyncGenerator<Buffer> {
  const { folder, isReplica } = findStoppedFolder('kv', from)
  const level = await openKvLevel(folder, CACHE_MEGABYTES, { isReplica, log: SILENT_LOG })
  const now = Date.now()
  const snapshot = level.db.snapshot()
  const isPast = (expiresAt: number) => expiresAt <= now
  const scan = createLevelScan(level.db, { start: FIRST_KEY }, { snapshot, isPast })
  try {
    for (let some; (some = await scan.next()).length > 0;) yield Buffer.from(toEntryLines(some))
  } finally {
    await scan.close()
    await snapshot.close()
    await level.close()
  }
}
