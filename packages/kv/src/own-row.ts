import type { OwnRow } from '@influencer-stats/runtime/own-row'
import { beforeFirst } from './core/stored.ts'
import { OWN_KEY } from './store/revisions.ts'

/** Row with the upper bound of the assigned revisions. Format 1 had no revisions. */
export const ownRow: OwnRow = {
  key: OWN_KEY,
  since: 2,
  async rebuild(db) {
    await db.put(OWN_KEY, Buffer.from(String(beforeFirst())), { sync: true })
    return ['the number of the last revision; revisions continue from another number']
  },
}
