import type { LoadPlan, LoadResult } from './load-plan.ts'
import { runRaw } from './raw.ts'

/** Load generators of closed loops, by name. The dependencies of autocannon are loaded at its first use. */
export const generators = {
  raw: runRaw,
  autocannon: async (plan: LoadPlan): Promise<LoadResult> => (await import('./autocannon.ts')).runAutocannon(plan),
}

export type GeneratorName = keyof typeof generators
