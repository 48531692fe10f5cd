import { saturateStart } from '../core/values/moment.ts'

/** The rank of a row that is not a default row. */
export const NO_RANK = -1

/**
 * Returns the rank of a default row, from 0. Among several matching default rows, the one with the highest rank is the
 * result: that with the most characteristics, then that with the latest start, which has 32 bits.
 */
export const toRank = (chars: number, from: number): number =>
  chars * 0x1_0000_0000 + (saturateStart(from) + 0x8000_0000)
