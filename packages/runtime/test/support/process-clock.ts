const STEP_MS = 20

/**
 * Starts a clock that goes as fast as this process gets on (ms): where others keep the machine busy it goes slowly, as all
 * does that is waited for. At rest it is a clock as any.
 */
export function startProcessClock(): () => number {
  let steps = 0
  setTimeout(function step() {
    steps++
    setTimeout(step, STEP_MS).unref()
  }, STEP_MS).unref()
  return () => steps * STEP_MS
}

/** Starts to measure how many times as long as at rest things take on this machine: 1 or more. */
export function startSlownessMeter(): () => number {
  const time = startProcessClock()
  const begun = performance.now()
  return () => Math.max(1, (performance.now() - begun) / Math.max(time(), STEP_MS))
}
