import type { Fanout } from './fanout.ts'
import type { StreamGroup } from '../stream-group.ts'

/** Fan-out with a separate write for each value. */
export const createEachFanout = (flush: (groups: readonly StreamGroup[]) => void): Fanout => ({
  queue: (group) => flush([group]),
})
