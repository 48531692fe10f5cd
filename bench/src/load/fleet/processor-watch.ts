import { setTimeout as delay } from 'node:timers/promises'
import { getProcessorSeconds } from '../../processes.ts'

/** Linux counts processor time in ticks of 10 ms: in a second that is 1 %. */
const WINDOW_MS = 1000

/**
 * Watches the processor time of a process while some work is done: for a second at least, else there is no share.
 * @returns what it took (s), the largest share of a processor in any second, and what the work gave
 */
export async function watchProcessor<T>(pid: number, work: () => Promise<T>) {
  const first = getProcessorSeconds(pid)
  let peak = 0
  let begun = { at: performance.now(), seconds: first }
  function updatePeak(): void {
    const now = { at: performance.now(), seconds: getProcessorSeconds(pid) }
    // By the clock: the timer is late where this process is busy.
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
