const MIN_DELAY_MS = 100
const MAX_DELAY_MS = 5_000
// After this time without a restart, the next delay is the minimum again.
const RESET_AFTER_MS = 30_000

/** Creates the delays between restarts: 100 ms, doubling up to 5 s, and 100 ms again after 30 s without a restart. */
export function createBackOff(now: () => number = Date.now): { next(): number } {
  let delay = MIN_DELAY_MS
  let last = -Infinity
  return {
    next() {
      delay = now() - last > RESET_AFTER_MS + delay ? MIN_DELAY_MS : Math.min(delay * 2, MAX_DELAY_MS)
      last = now()
      return delay
    },
  }
}
