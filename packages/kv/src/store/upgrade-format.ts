import { createFirstRevision, toRevision, toStored } from '../core/stored-value.ts'
import type { KvDatabase } from './commit.ts'
import { POSITION_KEY } from './revisions.ts'

const SLICE_ENTRIES = 1_000
const SLICE_BYTES = 4 * 1_024 * 1_024

/** Progress of an upgrade. The service's own key has it while an upgrade runs. */
interface UpgradeProgress {
  readonly revision: number
  /** Last upgraded key, in base64. */
  readonly done: string
}

/**
 * Adds revisions to the values of format 1, which have none. All get the same revision, as if one write had put them.
 * Each batch records its last key, so an interrupted upgrade continues there, and no value gets two revisions.
 */
export async function upgradeFromFirstFormat(db: KvDatabase, slice = SLICE_ENTRIES): Promise<void> {
  const saved = await db.get(POSITION_KEY)
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
    batch.put(POSITION_KEY, Buffer.from(JSON.stringify(progress)))
    // Synced, or a power cut may lose one batch and leave a later one.
    await batch.write({ sync: true })
  }
  await iterator.close()
  await db.put(POSITION_KEY, Buffer.from(String(started.revision)), { sync: true })
}
