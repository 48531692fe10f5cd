import { steadyNow } from '@influencer-stats/runtime/steady-clock'
import { Worker } from 'node:worker_threads'
import type { TimerPlan } from './timer-thread.ts'

/**
 * A timer fires up to 1.1 ms late, so it is set to this time before the next call is due (ms). For the remaining time,
 * the event loop turns without a pause, and checks the clock and the sockets every 1.2 us. On two shared cores calls
 * were 1 us late (p50) and 50-140 us late (p99), or 600 us while other programs used the cores.
 */
const TIMER_SLACK_MS = 1.2

/**
 * Calls `onDue(i, due)` for each `i` below `total` at the time `due = start + i * gap` (ms of `performance.now()`). A
 * late call is made immediately.
 *
 * @param sleeps true to use no processor time until the next call is due, for a generator on the processor of the
 *   measured server
 * @param onTurn called at each check of the clock, with the time until which a timer then sleeps; never called if
 *   `sleeps`
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
