import type { Group } from '../group.ts'

/** Decides when what a group has to be sent is written to its streams. */
export interface Fanout {
  /** Something was added to what the group is to be sent. */
  queue(group: Group): void
}

/** @param flush writes the pending events of these groups */
export type CreateFanout = (flush: (groups: readonly Group[]) => void) => Fanout
