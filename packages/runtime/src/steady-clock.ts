const offset = Number(process.hrtime.bigint()) / 1e6 - performance.now()

/** Milliseconds of the machine's clock that nobody sets: the same for all threads, of no meaning to another machine. */
export const steadyNow = (): number => performance.now() + offset

/** That clock when another, which may be set, showed `time` (ms since the epoch); now, if that is still to come. */
export const toSteadyTime = (time: number): number => steadyNow() - Math.max(0, Date.now() - time)
