import type { Fanout } from './fanout.ts'
import type { Group } from '../group.ts'

/** A write for each value. */
export const createEachFanout = (flush: (groups: readonly Group[]) => void): Fanout => ({
  queue: (group) => flush([group]),
})
