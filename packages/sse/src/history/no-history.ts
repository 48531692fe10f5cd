import type { History, HistoryState } from './history.ts'
import { RingHistory, type RingOptions } from './ring-history.ts'

/** No more than each topic's current value. */
export const createNoHistory = (options: RingOptions, state?: HistoryState): History =>
  new RingHistory({ ...options, count: 1 }, state)
