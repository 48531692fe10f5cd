import type { Judgement } from '../core/judge.ts'
import { toStored } from '../core/stored.ts'
import { yieldTurn } from '../core/turn.ts'
import { errors } from '../errors.ts'
import type { Level } from './commit.ts'
import { putOwn } from './expiries.ts'
import type { Write } from './store.ts'

// Changes that are put into a batch before others have their turn: 2 ms.
const SLICE = 1_000

/**
 * Makes a batch of LevelDB's of what writes change: by a call for each change, because an array of all costs twice as
 * much, at once. Whoever gets it closes it.
 * @param judgement what of the writes has no effect is left out
 * @throws STORE_FAILED
 */
export async function createBatch(db: Level, writes: readonly Pick<Write, 'ops'>[], judgement: Judgement) {
  const batch = db.batch()
  let changes = 0
  try {
    for (let i = 0; i < writes.length; i++) {
      const revision = judgement.effects[i]
      if (revision === undefined) continue
      for (const op of writes[i]!.ops) {
        if (op.type === 'put') batch.put(op.key, toStored(revision, op.value))
        else if (op.type === 'del') batch.del(op.key)
        if (++changes % SLICE === 0) await yieldTurn()
      }
    }
    putOwn(judgement, batch)
    return batch
  } catch (cause) {
    // The database was opened anew meanwhile.
    throw errors.STORE_FAILED(undefined, { cause })
  }
}
