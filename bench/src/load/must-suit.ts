import type { LoadPlan } from './load.ts'

/** Refuses what only `raw` can do. Both others wait for the body that a reply to HEAD announces. @throws Error */
export function mustSuit({ rate, requests }: LoadPlan, generator: string): void {
  if (rate !== undefined) throw new Error(`${generator} has no open loop: use raw`)
  if (requests.some(({ method }) => method === 'HEAD')) throw new Error(`${generator} cannot send HEAD: use raw`)
}
