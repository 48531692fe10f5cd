import type { History, HistoryState } from './history.ts'
import { createNoHistory } from './no-history.ts'
import { createRingHistory, type RingOptions } from './ring-history.ts'

/** Creates a history from the state of another one, with the limits of the history `name`. */
export const createMemoryHistory = (name: string, options: RingOptions, state: HistoryState): History =>
  name === 'none' ? createNoHistory(options, state) : createRingHistory(options, state)
