import type { LoadPlan, LoadResult } from './load-plan.ts'
import { runRaw } from './raw.ts'

/** The generators of closed loops, by name; what one needs is loaded when it is used. */
export const generators = {
  raw: runRaw,
  autocannon: async (plan: LoadPlan): Promise<LoadResult> => (await import('./autocannon.ts')).runAutocannon(plan),
}

export type GeneratorName = keyof typeof generators
