import { expiryKey, timeOf } from '../core/own-keys.ts'
import type { Level } from './commit.ts'
import { createLevelScan, type LevelSnapshot } from './level-scan.ts'
import type { Snapshot } from './store.ts'

export interface LevelSnapshotOptions {
  /** Whether something may expire. */
  readonly isTimed: boolean
  /** Sequence number up to which a snapshot has the log. */
  sequenceIn?(snapshot: LevelSnapshot): number | undefined
}

/** A snapshot of LevelDB. */
export function createLevelSnapshot(
  db: Level,
  { isTimed, sequenceIn = () => undefined }: LevelSnapshotOptions,
): Snapshot {
  const snapshot = db.snapshot()
  return {
    sequence: sequenceIn(snapshot),
    find(key) {
      const stored = db.getSync(key, { snapshot })
      if (stored === undefined) return undefined
      const time = isTimed ? db.getSync(expiryKey(key), { snapshot }) : undefined
      return time ? { stored, expiresAt: timeOf(time) } : { stored }
    },
    scan: (range) => createLevelScan(db, range, { snapshot, isTimed }),
    close: () => snapshot.close(),
  }
}
