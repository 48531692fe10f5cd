import type { ClassicLevel } from 'classic-level'

const LEVELS = 7
const MIB = 1_048_576

/** Size of the tables of each level of LevelDB (bytes, rounded to MiB by LevelDB). */
export function levelSizes(db: ClassicLevel<any, any>): number[] {
  const sizes = Array.from({ length: LEVELS }, () => 0)
  // One line for each level that has tables: level, number of files, size in MiB.
  for (const [, level, megabytes] of db.getProperty('leveldb.stats').matchAll(/^ *(\d+) +\d+ +(\d+(?:\.\d+)?) /gm))
    sizes[Number(level)] = Number(megabytes) * MIB
  return sizes
}
