import type { LoadPlan, TurnPlan } from '../load.ts'

/** Refuses what only `raw` can do. Both others wait for the body that a reply to HEAD announces. @throws Error */
export function mustSuit(plan: LoadPlan, generator: string): asserts plan is TurnPlan {
  const { rate, requests, percentiles, pipeline } = plan
  if (rate !== undefined) throw new Error(`${generator} has no open loop: use raw`)
  if (pipeline !== undefined) throw new Error(`${generator} has no pipelines: use raw`)
  if (percentiles) throw new Error(`${generator} tells no other percentiles: use raw`)
  if ('drawer' in requests) throw new Error(`${generator} cannot draw requests: use raw`)
  if (requests.some(({ method }) => method === 'HEAD')) throw new Error(`${generator} cannot send HEAD: use raw`)
}
