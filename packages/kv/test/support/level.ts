import type { KvLevel } from '../../src/store/commit.ts'
import { openKvLevel } from '../../src/store/level.ts'
import { openRevisions } from '../../src/store/revisions.ts'

/** What nobody reads. */
export const log = { error() {}, info() {} }

/** A folder's database as main opens it. */
export const openLevelOf = (folder: string) => openKvLevel(folder, 8, { log })

/** The same with its own row, as each start writes it. */
export async function openUsedLevelOf(folder: string): Promise<KvLevel> {
  const level = await openLevelOf(folder)
  await openRevisions(level)
  return level
}

/** A folder's database as the main of a cluster node opens it. */
export const openNodeLevelOf = (folder: string) => openKvLevel(folder, 8, { log, isReplica: true })
