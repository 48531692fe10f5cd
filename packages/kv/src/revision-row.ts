import type { OwnRow } from '@influencer-stats/runtime/own-row'
import { createFirstRevision } from './core/stored-value.ts'
import { POSITION_KEY } from './store/revisions.ts'

/** Row with the upper bound of the assigned revisions. Format 1 had no revisions. */
export const revisionRow: OwnRow = {
  key: POSITION_KEY,
  since: 2,
  async rebuild(db) {
    await db.put(POSITION_KEY, Buffer.from(String(createFirstRevision())), { sync: true })
    return ['the number of the last revision; revisions continue from another number']
  },
}
