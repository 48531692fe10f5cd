import type { Level } from 'level'
import { statfs } from 'node:fs/promises'
import { join } from 'node:path'
import { getLevelSizes } from './level-sizes.ts'
import { getLogBytes } from './free-space.ts'

const MIB = 1_048_576
/** Additional free space for the logs of removals (bytes). */
const MARGIN_BYTES = 16 * MIB
/** Maximum of the margin as a share of the disk, for small disks. */
const MARGIN_SHARE = 0.05
/** Largest output of a compaction below level 1: a table of 16 MiB and the tables that it overlaps (bytes). */
const DEEP_COMPACTION_BYTES = 176 * MIB

/** Free space of a data folder, compared with the space that LevelDB needs. */
export interface DiskSpace {
  /** Free space minus the need of LevelDB and the margin (bytes). If negative, only removals are accepted. */
  readonly headroom: number
  /** Space that remains for removals (bytes). */
  readonly margin: number
}

/**
 * Reads the free space of a data folder. LevelDB needs space to flush its logs, and for the compaction that may follow.
 * A compaction merges all tables of levels 0 and 1, or a few tables of a deeper level. It removes the merged tables
 * only after it has written the new ones.
 */
export async function readDiskSpace(folder: string, db: Level<any, any>): Promise<DiskSpace> {
  const [{ bavail, blocks, bsize }, logs] = await Promise.all([statfs(folder), getLogBytes(join(folder, 'level'))])
  const margin = Math.min(MARGIN_BYTES, blocks * bsize * MARGIN_SHARE)
  const [zero, one, ...deeper] = getLevelSizes(db)
  const deep = Math.min(
    DEEP_COMPACTION_BYTES,
    deeper.reduce((sum, bytes) => sum + bytes, 0),
  )
  const compaction = Math.max(logs + zero! + one!, deep)
  return { headroom: bavail * bsize - logs - compaction - margin, margin }
}
