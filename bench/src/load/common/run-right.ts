import type { LoadPlan, LoadResult } from '../load.ts'
import { createRaw } from '../raw.ts'

const raw = createRaw()

/** Runs a plan with `raw`. @throws Error unless every reply was right */
export async function runRight(plan: LoadPlan): Promise<LoadResult> {
  const result = await raw.run(plan)
  if (result.wrong + result.errors > 0) throw new Error(`${result.wrong} wrong replies, ${result.errors} missing`)
  return result
}
