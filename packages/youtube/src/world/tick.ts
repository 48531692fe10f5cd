/**
 * Length of a tick (ms). Ticks begin at its multiples since 1970. Counts change only when a tick begins, and a cached
 * reply is valid until the next tick.
 */
export const TICK_MS = 10_000

/** Returns the beginning of the tick that contains a time (ms since 1970). */
export const toTickStart = (time: number): number => time - (time % TICK_MS)
