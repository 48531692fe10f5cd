import type { StreamGroup } from './stream-group.ts'

/** Decides when the pending events of a group are written to its streams. */
export interface Fanout {
  /** Called after an event was added to the pending events of a group. */
  queue(group: StreamGroup): void
}

/** @param flush writes the pending events of these groups */
export type CreateFanout = (flush: (groups: readonly StreamGroup[]) => void) => Fanout
