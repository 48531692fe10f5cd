import type { History, HistoryState } from './history.ts'
import { createNoHistory } from './no-history.ts'
import { createRingHistory, type RingOptions } from './ring-history.ts'

/** Creates a history in memory from the state of another history. @param name name of the history in the settings */
export const createMemoryHistory = (name: string, options: RingOptions, state: HistoryState): History =>
  name === 'none' ? createNoHistory(options, state) : createRingHistory(options, state)
