import { setTimeout as delay } from 'node:timers/promises'
import { getProcessorSeconds } from '../../processes.ts'

/** Linux counts processor time in ticks of 10 ms, which is 1 % of this window. */
const WINDOW_MS = 1000

/**
 * Watches the processor time of a process during some work. Waits at least one second, so that there is a share.
 * @returns the processor time of the process (s), its largest processor share in a second, and the result of the work
 */
export async function watchProcessor<T>(pid: number, work: () => Promise<T>) {
  const first = getProcessorSeconds(pid)
  let peak = 0
  let begun = { at: performance.now(), seconds: first }
  function updatePeak(): void {
    const now = { at: performance.now(), seconds: getProcessorSeconds(pid) }
    // The duration is that of the clock, because the timer is late while this process is busy.
    peak = Math.max(peak, (now.seconds - begun.seconds) / ((now.at - begun.at) / 1000))
    begun = now
  }
  const timer = setInterval(updatePeak, WINDOW_MS)
  try {
    const [done] = await Promise.all([work(), delay(WINDOW_MS + 50)])
    return { peak, seconds: getProcessorSeconds(pid) - first, done }
  } finally {
    clearInterval(timer)
  }
}
