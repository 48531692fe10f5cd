import type { Fanout } from './fanout.ts'
import type { StreamGroup } from './stream-group.ts'

/** Creates a fan-out that writes each value separately. */
export const createEachFanout = (flush: (groups: readonly StreamGroup[]) => void): Fanout => ({
  queue: (group) => flush([group]),
})
