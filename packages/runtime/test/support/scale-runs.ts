const RUN_FACTOR = Number(process.env.PROPERTY_RUNS ?? 1)

/** Number of cases of a property test: `count` by default, `PROPERTY_RUNS` times that for long runs. */
export const scaleRuns = (count: number): number => Math.ceil(count * RUN_FACTOR)
