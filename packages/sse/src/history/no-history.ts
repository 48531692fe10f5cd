import type { History, HistoryState } from './history.ts'
import { RingHistory, type RingOptions } from './ring-history.ts'

/** Creates a history of each topic's current value only. */
export const createNoHistory = (options: RingOptions, state?: HistoryState): History =>
  new RingHistory({ ...options, count: 1 }, state)
