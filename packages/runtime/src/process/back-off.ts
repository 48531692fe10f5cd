const MIN_DELAY_MS = 100
const MAX_DELAY_MS = 5_000
// Who has stayed up this long starts over with the shortest delay.
const RESET_AFTER_MS = 30_000

/** Delays between restarts: 100 ms, doubling up to 5 s, and 100 ms again after 30 s without one. */
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
