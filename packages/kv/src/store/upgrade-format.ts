import { createFirstRevision, toRevision, toStored } from '../core/stored-value.ts'
import type { KvDatabase } from './commit.ts'
import { STATE_KEY } from '../revisions.ts'

const SLICE_ENTRIES = 1_000
const SLICE_BYTES = 4 * 1_024 * 1_024

/** Progress of an upgrade. It is the value of `STATE_KEY` while an upgrade runs. */
interface UpgradeProgress {
  /** Revision of all upgraded values. */
  readonly revision: number
  /** Last upgraded key, in base64. */
  readonly done: string
}

/**
 * Upgrades a database of format 1, whose values have no revisions. All values get the same revision, as if one batch
 * had written them. Each batch of the upgrade records its last key. So an interrupted upgrade continues after that key,
 * and no value gets two revisions.
 */
export async function upgradeFromFirstFormat(db: KvDatabase, slice = SLICE_ENTRIES): Promise<void> {
  const saved = await db.get(STATE_KEY)
  const started: UpgradeProgress | number = saved
    ? JSON.parse(saved.toString())
    : { revision: createFirstRevision(), done: '' }
  if (typeof started === 'number') return
  const revision = toRevision(started.revision)
  const iterator = db.iterator({
    gt: Buffer.from(started.done, 'base64'),
    fillCache: false,
    highWaterMarkBytes: SLICE_BYTES,
  })
  for (;;) {
    const entries = await iterator.nextv(slice)
    if (entries.length === 0) break
    const batch = db.batch()
    for (const [key, value] of entries) batch.put(key, toStored(revision, value))
    const progress: UpgradeProgress = { revision: started.revision, done: entries.at(-1)![0].toString('base64') }
    batch.put(STATE_KEY, Buffer.from(JSON.stringify(progress)))
    // Without a sync, a power cut could lose one batch and preserve a later one.
    await batch.write({ sync: true })
  }
  await iterator.close()
  await db.put(STATE_KEY, Buffer.from(String(started.revision)), { sync: true })
}
