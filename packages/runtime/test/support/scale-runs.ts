const RUN_FACTOR = Number(process.env.PROPERTY_RUNS ?? 1)

/** How many cases a property is tried with: `few` by default, `PROPERTY_RUNS` times as many where there is time. */
export const scaleRuns = (count: number): number => Math.ceil(count * RUN_FACTOR)
