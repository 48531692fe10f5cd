import { availableParallelism, loadavg } from 'node:os'

/** Processes that wait for a processor, for each processor, while the tests run alone. */
const USUAL_LOAD = 2

/** Lengthens a time-out (ms) on a machine that other programs keep busy. */
export const toPatientTimeout = (ms: number): number =>
  Math.ceil(ms * Math.max(1, loadavg()[0]! / (USUAL_LOAD * availableParallelism())))
