import { compareKeys } from './keys.ts'

/**
 * The keys of each client, which begin with a character of 1 to 4 bytes: the first of them, and the first key behind them.
 */
export const CLIENT_SPACES = [
  ['a', 'b'],
  ['é', 'ê'],
  ['日', '旦'],
  ['😀', '😁'],
] as const

/** Keys that all clients write at the same time. */
export const SHARED_SPACE = ['~', '\u007f'] as const

/** A key that is written when all clients have ended. */
export const END_KEY = '\u007fend'

const ALL_SPACES = [...CLIENT_SPACES, SHARED_SPACE]

/** Whether the test may have written a key. */
export const isOfTest = (key: string): boolean =>
  key === END_KEY || ALL_SPACES.some(([start, end]) => compareKeys(key, start) >= 0 && compareKeys(key, end) < 0)
