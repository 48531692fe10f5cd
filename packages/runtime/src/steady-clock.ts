const offset = Number(process.hrtime.bigint()) / 1e6 - performance.now()

/** Returns the time of the machine's monotonic clock (ms): the same for all threads, but not for other machines. */
export const steadyNow = (): number => performance.now() + offset

/**
 * Converts a time of the system clock (ms since the epoch) to the steady clock. The system clock may be adjusted, so a
 * time in the future becomes the current time.
 */
export const toSteadyTime = (time: number): number => steadyNow() - Math.max(0, Date.now() - time)
