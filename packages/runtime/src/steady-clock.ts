const offset = Number(process.hrtime.bigint()) / 1e6 - performance.now()

/** Time of the machine's monotonic clock (ms): the same for all threads, without a meaning on another machine. */
export const steadyNow = (): number => performance.now() + offset

/**
 * Converts a time of the system clock (ms since the epoch), which may be adjusted, to the steady clock. A future time
 * becomes now.
 */
export const toSteadyTime = (time: number): number => steadyNow() - Math.max(0, Date.now() - time)
