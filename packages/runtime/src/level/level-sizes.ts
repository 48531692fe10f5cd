import type { Level } from 'level'

const LEVEL_COUNT = 7
const MIB = 1_048_576

/** Returns the size of the tables of each level of LevelDB (bytes; LevelDB rounds to MiB). */
export function getLevelSizes(db: Level<any, any>): number[] {
  const sizes = Array.from({ length: LEVEL_COUNT }, () => 0)
  // One line for each level that has tables: level, number of files, size in MiB.
  for (const [, level, megabytes] of db.getProperty('leveldb.stats').matchAll(/^ *(\d+) +\d+ +(\d+(?:\.\d+)?) /gm))
    sizes[Number(level)] = Number(megabytes) * MIB
  return sizes
}
