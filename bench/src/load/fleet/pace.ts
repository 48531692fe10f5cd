import { TIMER_SLACK } from '../raw/open-loop.ts'

/** Calls `onDue(i, due)` for `i` below `total`, due at `start + i * gap` (ms of `performance.now()`); late ones at once. */
export function pace(
  total: number,
  gap: number,
  start: number,
  onDue: (index: number, due: number) => void,
): Promise<void> {
  return new Promise((resolve) => {
    let next = 0
    function step(): void {
      const now = performance.now()
      while (next < total && start + next * gap <= now) onDue(next, start + next++ * gap)
      if (next === total) return resolve()
      const wait = start + next * gap - now - TIMER_SLACK
      if (wait >= 1) setTimeout(step, wait)
      else setImmediate(step)
    }
    step()
  })
}
