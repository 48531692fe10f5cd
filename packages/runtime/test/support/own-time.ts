const STEP = 20

/**
 * Starts a clock that goes as fast as this process gets on (ms): where others keep the machine busy it goes slowly, as all
 * does that is waited for. At rest it is a clock as any.
 */
export function ownTime(): () => number {
  let steps = 0
  setTimeout(function step() {
    steps++
    setTimeout(step, STEP).unref()
  }, STEP).unref()
  return () => steps * STEP
}

/** Starts to measure how many times as long as at rest things take on this machine: 1 or more. */
export function slowness(): () => number {
  const time = ownTime()
  const begun = performance.now()
  return () => Math.max(1, (performance.now() - begun) / Math.max(time(), STEP))
}
