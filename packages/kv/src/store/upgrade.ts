import { beforeFirst, revisionOf, toStored } from '../core/stored.ts'
import type { Level } from './commit.ts'
import { OWN_KEY } from './revisions.ts'

const SLICE = 1_000
const SLICE_BYTES = 4 * 1_024 * 1_024

/** How far an upgrade has come: what the service's own key has while one is under way. */
interface Progress {
  readonly revision: number
  /** The last key that has been done, in base64. */
  readonly done: string
}

/**
 * In format 1 a value had no revision. All get the same one, as if one write had put them there. Each batch says how far
 * it goes, so that an upgrade that was cut off goes on where it was, and no value gets two.
 */
export async function fromFirstFormat(db: Level, slice = SLICE): Promise<void> {
  const own = await db.get(OWN_KEY)
  const begun: Progress | number = own ? JSON.parse(own.toString()) : { revision: beforeFirst(), done: '' }
  if (typeof begun === 'number') return
  const revision = revisionOf(begun.revision)
  const iterator = db.iterator({
    gt: Buffer.from(begun.done, 'base64'),
    fillCache: false,
    highWaterMarkBytes: SLICE_BYTES,
  })
  for (;;) {
    const entries = await iterator.nextv(slice)
    if (entries.length === 0) break
    const batch = db.batch()
    for (const [key, value] of entries) batch.put(key, toStored(revision, value))
    const progress: Progress = { revision: begun.revision, done: entries.at(-1)![0].toString('base64') }
    batch.put(OWN_KEY, Buffer.from(JSON.stringify(progress)))
    // Synced, or a power cut may lose one batch and leave a later one.
    await batch.write({ sync: true })
  }
  await iterator.close()
  await db.put(OWN_KEY, Buffer.from(String(begun.revision)), { sync: true })
}
