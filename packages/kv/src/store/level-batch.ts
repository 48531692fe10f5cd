import type { WriteResult } from '../core/evaluate-writes.ts'
import { toStored } from '../core/stored-value.ts'
import { yieldTurn } from '@influencer-stats/runtime/async/yield'
import { errors } from '../errors.ts'
import type { KvDatabase } from './commit.ts'
import { putInternalRows } from './ttl.ts'
import type { KvWrite } from './store.ts'

/** Number of changes to add to a batch before `yieldTurn`: 0.5 ms. */
const SLICE_OPS = 250

/**
 * Creates a LevelDB batch with the changes of writes. It makes one call per change: to pass all changes in one array
 * takes twice the time, and other requests could not run meanwhile. The caller closes the batch.
 * @param result evaluation of the writes; writes without an effect are omitted
 * @throws STORE_FAILED
 */
export async function createBatch(db: KvDatabase, writes: readonly Pick<KvWrite, 'ops'>[], result: WriteResult) {
  const batch = db.batch()
  let changes = 0
  try {
    for (let i = 0; i < writes.length; i++) {
      const revision = result.effects[i]
      if (revision === undefined) continue
      for (const op of writes[i]!.ops) {
        if (op.type === 'put') batch.put(op.key, toStored(revision, op.value))
        else if (op.type === 'del') batch.del(op.key)
        if (++changes % SLICE_OPS === 0) await yieldTurn()
      }
    }
    putInternalRows(result, batch)
    return batch
  } catch (cause) {
    // The database was reopened meanwhile.
    throw errors.STORE_FAILED(undefined, { cause })
  }
}
