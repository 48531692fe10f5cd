import type { Fanout } from './fanout.ts'
import type { Group } from '../group.ts'

/** A write for each value. */
export const createEachFanout = (flush: (group: Group) => void): Fanout => ({ queue: flush })
