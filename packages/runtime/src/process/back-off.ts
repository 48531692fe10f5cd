const FIRST = 100
const LONGEST = 5_000
// Who has stayed up this long starts over with the shortest delay.
const FORGIVEN_AFTER = 30_000

/** Delays between restarts: 100 ms, doubling up to 5 s, and 100 ms again after 30 s without one. */
export function backOff(now: () => number = Date.now): { next(): number } {
  let delay = FIRST
  let last = -Infinity
  return {
    next() {
      delay = now() - last > FORGIVEN_AFTER + delay ? FIRST : Math.min(delay * 2, LONGEST)
      last = now()
      return delay
    },
  }
}
