import type { History, Kept } from './history.ts'
import { createNoHistory } from './none.ts'
import { createRingHistory, type RingOptions } from './ring.ts'

/** A history that goes on from what another one kept, and keeps no more than the one of that name. */
export const createHistoryInMemory = (name: string, options: RingOptions, kept: Kept): History =>
  name === 'none' ? createNoHistory(options, kept) : createRingHistory(options, kept)
