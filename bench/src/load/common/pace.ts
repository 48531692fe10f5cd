import { steadyNow } from '@influencer-stats/runtime/steady-clock'
import { Worker } from 'node:worker_threads'
import type { TimerPlan } from './timer-thread.ts'

/**
 * A timer comes up to 1.1 ms late, so it is set for this long (ms) before something is due; the rest is spent in turns
 * of the event loop, which look at the clock and at the sockets every 1.2 us. On two
 * shared cores things were seen to be due 1 us late (p50) and 50-140 us (p99), 600 us while others used them.
 */
const TIMER_SLACK_MS = 1.2

/**
 * Calls `onDue(i, due)` for `i` below `total`, due at `start + i * gap` (ms of `performance.now()`); late ones at once.
 *
 * @param sleeps leave the processor to others until something is due: for who shares it with what is measured
 * @param onTurn called at each look at the clock, with the time until which a timer sleeps; never if `sleeps`
 */
export function runAtPace(
  total: number,
  gap: number,
  start: number,
  onDue: (index: number, due: number) => void,
  sleeps = false,
  onTurn: (now: number, until: number) => void = () => {},
): Promise<void> {
  return new Promise((resolve, reject) => {
    let next = 0
    function runDue(): void {
      const now = performance.now()
      while (next < total && start + next * gap <= now) onDue(next, start + next++ * gap)
      if (next === total) return resolve()
      if (sleeps) return
      const wait = start + next * gap - now - TIMER_SLACK_MS
      if (wait < 1) {
        onTurn(now, now)
        setImmediate(runDue)
      } else {
        onTurn(now, now + wait)
        setTimeout(runDue, wait)
      }
    }
    if (!sleeps) return runDue()
    const workerData: TimerPlan = { total, gap, start: start + steadyNow() - performance.now() }
    new Worker(new URL('./timer-thread.ts', import.meta.url), { workerData }).on('message', runDue).on('error', reject)
  })
}
