import type { RecordChange, RecordEdit } from '../core/record-kinds.ts'
import { ConflictError, type StatsState } from '../state/stats-state.ts'

/**
 * Computes and writes changes of records. If another change came first, they are computed again. If `compute` refuses or
 * changes nothing, the reason may be that this node has not applied an earlier change yet. So it runs again after
 * `catchUp`, and only that result counts.
 */
export async function writeRecords<T>(
  state: Pick<StatsState, 'catchUp' | 'putRecords'>,
  compute: () => Promise<RecordEdit<T>>,
): Promise<T> {
  for (let isCurrent = !state.catchUp; ;) {
    let edit: RecordEdit<T> | undefined
    try {
      edit = await compute()
    } catch (refusal) {
      if (isCurrent) throw refusal
    }
    if (edit && edit.changes.length > 0) {
      if (await tryWrite(state, edit.changes)) return edit.result
    } else if (edit && isCurrent) return edit.result
    else {
      await state.catchUp!()
      isCurrent = true
    }
  }
}

/** False if another change came first. It is visible here by then. */
async function tryWrite(state: Pick<StatsState, 'putRecords'>, changes: readonly RecordChange[]): Promise<boolean> {
  try {
    await state.putRecords(changes)
    return true
  } catch (fault) {
    if (fault instanceof ConflictError) return false
    throw fault
  }
}
