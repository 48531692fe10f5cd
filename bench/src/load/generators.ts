import type { LoadPlan, LoadResult } from './load-plan.ts'
import { runRaw } from './raw.ts'

/** Generators of closed loops, by name. Each loads its dependencies at its first use. */
export const generators = {
  raw: runRaw,
  autocannon: async (plan: LoadPlan): Promise<LoadResult> => (await import('./autocannon.ts')).runAutocannon(plan),
}

export type GeneratorName = keyof typeof generators
