import type { History, HistoryState } from './history.ts'
import { createNoHistory } from './no-history.ts'
import { createRingHistory, type RingOptions } from './ring-history.ts'

/** A history that goes on from what another one kept, and keeps no more than the one of that name. */
export const createMemoryHistory = (name: string, options: RingOptions, state: HistoryState): History =>
  name === 'none' ? createNoHistory(options, state) : createRingHistory(options, state)
