import type { OwnRow } from '@influencer-stats/runtime/own-row'
import { createFirstRevision } from './core/stored-value.ts'
import { STATE_KEY } from './revisions.ts'

/**
 * Row of a standalone service with the upper bound of the assigned revisions. A repair creates this row again if it is
 * damaged. Format 1 had no revisions.
 */
export const revisionRow: OwnRow = {
  key: STATE_KEY,
  since: 2,
  async rebuild(db) {
    await db.put(STATE_KEY, Buffer.from(String(createFirstRevision())), { sync: true })
    return ['the number of the last revision; revisions continue from another number']
  },
}
