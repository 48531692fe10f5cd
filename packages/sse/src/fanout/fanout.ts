import type { StreamGroup } from '../stream-group.ts'

/** Decides when what a group has to be sent is written to its streams. */
export interface Fanout {
  /** Something was added to what the group is to be sent. */
  queue(group: StreamGroup): void
}

/** @param flush writes the pending events of these groups */
export type CreateFanout = (flush: (groups: readonly StreamGroup[]) => void) => Fanout
