import type { History, Kept } from './history.ts'
import { Ring, type RingOptions } from './ring.ts'

/** No more than each topic's current value. */
export const createNoHistory = (options: RingOptions, kept?: Kept): History => new Ring({ ...options, count: 1 }, kept)
