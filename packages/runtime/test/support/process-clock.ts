const STEP_MS = 20

/**
 * Starts a clock that advances with the progress of this process (ms). On a busy machine it is slow, like all timers of
 * the process. On an idle machine it has the usual speed.
 */
export function startProcessClock(): () => number {
  let steps = 0
  setTimeout(function step() {
    steps++
    setTimeout(step, STEP_MS).unref()
  }, STEP_MS).unref()
  return () => steps * STEP_MS
}

/** Starts to measure how much longer everything takes than on an idle machine: 1 or more. */
export function startSlownessMeter(): () => number {
  const time = startProcessClock()
  const begun = performance.now()
  return () => Math.max(1, (performance.now() - begun) / Math.max(time(), STEP_MS))
}
