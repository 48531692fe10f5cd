import type { KvLevel } from '../../src/store/commit.ts'
import { openKvLevel } from '../../src/store/level-store.ts'
import { openRevisions } from '../../src/revisions.ts'

/** A log without output. */
export const log = { error() {}, info() {} }

/** Opens the database of a folder like the main thread. */
export const openTestLevel = (folder: string) => openKvLevel(folder, 8, { log })

/** Opens the same database and writes its own row, like each start. */
export async function openUsedTestLevel(folder: string): Promise<KvLevel> {
  const level = await openTestLevel(folder)
  await openRevisions(level)
  return level
}

/** Opens the database of a folder like the main thread of a cluster node. */
export const openNodeTestLevel = (folder: string) => openKvLevel(folder, 8, { log, isReplica: true })
