import { toExpiryKey, decodeTime } from '../core/internal-keys.ts'
import type { KvDatabase } from './commit.ts'
import type { TtlState } from './ttl.ts'
import { createLevelScan, type LevelSnapshot } from './level-scan.ts'
import type { KvSnapshot } from './store.ts'

export interface LevelReadOptions {
  readonly ttl: TtlState
  /** Returns the last sequence of the log whose changes a snapshot contains. */
  getSequence?(snapshot: LevelSnapshot): number | undefined
}

/** Creates a snapshot of a LevelDB database. It omits values that had expired when it was taken. */
export function createLevelSnapshot(
  db: KvDatabase,
  { ttl, getSequence = () => undefined }: LevelReadOptions,
): KvSnapshot {
  // The time is read before the snapshot is taken: a value that has expired by then is absent at every later time, too.
  const now = ttl.now()
  const snapshot = db.snapshot()
  // The flag is read after the snapshot is taken: it is set if the snapshot contains a value that expires.
  const isPast = ttl.isTimed ? (expiresAt: number) => ttl.isPast(expiresAt, now) : undefined
  return {
    sequence: getSequence(snapshot),
    find(key) {
      const stored = db.getSync(key, { snapshot })
      if (stored === undefined) return undefined
      const time = isPast && db.getSync(toExpiryKey(key), { snapshot })
      if (!time) return { stored }
      const expiresAt = decodeTime(time)
      return isPast(expiresAt) ? undefined : { stored, expiresAt }
    },
    scan: (range) => createLevelScan(db, range, { snapshot, isPast }),
    close: () => snapshot.close(),
  }
}
