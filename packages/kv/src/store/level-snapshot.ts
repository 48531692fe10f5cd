import { expiryKey, timeOf } from '../core/own-keys.ts'
import type { Level } from './commit.ts'
import type { Expiring } from './expiries.ts'
import { createLevelScan, type LevelSnapshot } from './level-scan.ts'
import type { Snapshot } from './store.ts'

export interface LevelSnapshotOptions {
  readonly expiring: Expiring
  /** Returns the sequence number up to which a snapshot contains the log. */
  sequenceIn?(snapshot: LevelSnapshot): number | undefined
}

/** Creates a snapshot of LevelDB. It omits values that had expired when it was taken. */
export function createLevelSnapshot(
  db: Level,
  { expiring, sequenceIn = () => undefined }: LevelSnapshotOptions,
): Snapshot {
  // Before the snapshot: a value that has expired by this time is absent from the snapshot at any later time.
  const now = expiring.now()
  const snapshot = db.snapshot()
  // After the snapshot: the flag is set if the snapshot has a value that expires.
  const isPast = expiring.isTimed ? (expiresAt: number) => expiring.isPast(expiresAt, now) : undefined
  return {
    sequence: sequenceIn(snapshot),
    find(key) {
      const stored = db.getSync(key, { snapshot })
      if (stored === undefined) return undefined
      const time = isPast && db.getSync(expiryKey(key), { snapshot })
      if (!time) return { stored }
      const expiresAt = timeOf(time)
      return isPast(expiresAt) ? undefined : { stored, expiresAt }
    },
    scan: (range) => createLevelScan(db, range, { snapshot, isPast }),
    close: () => snapshot.close(),
  }
}
