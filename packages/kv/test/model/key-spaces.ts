import { compareKeys } from './keys.ts'

/**
 * Key range of each client: its first key, and the first key after the range. The keys begin with a character of 1 to 4
 * bytes.
 */
export const CLIENT_SPACES = [
  ['a', 'b'],
  ['é', 'ê'],
  ['日', '旦'],
  ['😀', '😁'],
] as const

/** Key range that all clients write concurrently. */
export const SHARED_SPACE = ['~', '\u007f'] as const

/** Key that the test writes after all clients have ended. */
export const END_KEY = '\u007fend'

const ALL_SPACES = [...CLIENT_SPACES, SHARED_SPACE]

/** True if the test may have written a key. */
export const isTestKey = (key: string): boolean =>
  key === END_KEY || ALL_SPACES.some(([start, end]) => compareKeys(key, start) >= 0 && compareKeys(key, end) < 0)
